//! What the server calls itself: `ServerTokens`, `ServerSignature`, `UseCanonicalName`.

const NAME: &str = "Cameleer";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `ServerTokens`: how much of itself it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tokens {
    /// Programs are told the version, clients are not; parts that want to be named are named to both.
    #[default]
    Unsaid,
    /// `Cameleer`
    Prod,
    /// `Cameleer/0`
    Major,
    /// `Cameleer/0.1`
    Minor,
    /// `Cameleer/0.1.0`
    Min,
    /// `Cameleer/0.1.0 (Unix)`
    Os,
    /// The same, and its parts.
    Full,
}

impl Tokens {
    /// By its word in the directive.
    pub fn parse(word: &str) -> Result<Tokens, String> {
        Ok(match word.to_ascii_lowercase().as_str() {
            "prod" | "productonly" => Tokens::Prod,
            "major" => Tokens::Major,
            "minor" => Tokens::Minor,
            "min" | "minimal" => Tokens::Min,
            "os" => Tokens::Os,
            "full" => Tokens::Full,
            _ => return Err(format!("expected Prod, Major, Minor, Min, OS or Full, got \"{word}\"")),
        })
    }

    /// Whether parts are named.
    pub fn names_components(self) -> bool {
        matches!(self, Tokens::Unsaid | Tokens::Full)
    }

    /// `SERVER_SOFTWARE`: `api` is the generation of the Perl API, `added` are the parts that modules name.
    pub fn software(self, api: &str, added: &[String]) -> String {
        let version = |parts| format!("{NAME}/{}", VERSION.split('.').take(parts).collect::<Vec<_>>().join("."));
        match self {
            Tokens::Prod => NAME.to_owned(),
            Tokens::Major => version(1),
            Tokens::Minor => version(2),
            Tokens::Min => version(3),
            Tokens::Os => format!("{} (Unix)", version(3)),
            Tokens::Unsaid => listed(&format!("{} {api}", version(3)), added),
            Tokens::Full => listed(&format!("{} (Unix) {api}", version(3)), added),
        }
    }

    /// The `Server` header. A site that speaks the Perl API names it as one of its parts, as httpd does.
    pub fn header(self, api: &str, is_spoken: bool, added: &[String]) -> String {
        match self {
            Tokens::Unsaid if is_spoken => listed(&format!("{NAME} {api}"), added),
            Tokens::Unsaid => listed(NAME, added),
            said => said.software(api, added),
        }
    }
}

fn listed(first: &str, added: &[String]) -> String {
    added.iter().fold(first.to_owned(), |text, part| format!("{text} {part}"))
}

/// `ServerSignature`: what stands below the pages that the server makes itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// Nothing.
    Off,
    /// The name of the server.
    On,
    /// The same, and whom to write to.
    Email,
}

/// What a signature names.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// As in the `Server` header.
    pub software: &'a str,
    /// See [`CanonicalName`].
    pub name: &'a str,
    /// The port of that name.
    pub port: u16,
    /// `ServerAdmin`
    pub admin: Option<&'a str>,
}

impl Signature {
    /// The end of a page.
    pub fn html(self, named: &Named<'_>) -> String {
        let (software, name) = (escape(named.software), escape(named.name));
        let name = match (self, named.admin) {
            (Signature::Off, _) => return String::new(),
            (Signature::Email, Some(admin)) => format!("<a href=\"mailto:{}\">{name}</a>", escape(admin)),
            _ => name,
        };
        format!("<hr>\n<address>{software} Server at {name} Port {}</address>\n", named.port)
    }

    /// By its word in the directive.
    pub fn parse(word: &str) -> Result<Signature, String> {
        Ok(match word.to_ascii_lowercase().as_str() {
            "off" => Signature::Off,
            "on" => Signature::On,
            "email" => Signature::Email,
            _ => return Err(format!("expected On, Off or EMail, got \"{word}\"")),
        })
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// `UseCanonicalName`: where name and port come from in links that the server makes to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CanonicalName {
    /// The client's `Host`.
    #[default]
    Off,
    /// `ServerName`
    On,
    /// The name of the address that the client connected to.
    Dns,
}

impl CanonicalName {
    /// By its word in the directive.
    pub fn parse(word: &str) -> Result<CanonicalName, String> {
        Ok(match word.to_ascii_lowercase().as_str() {
            "off" => CanonicalName::Off,
            "on" => CanonicalName::On,
            "dns" => CanonicalName::Dns,
            _ => return Err(format!("expected On, Off or DNS, got \"{word}\"")),
        })
    }
}
