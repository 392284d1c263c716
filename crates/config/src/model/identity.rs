//! How the server identifies itself: `ServerTokens`, `ServerSignature`, `UseCanonicalName`.

const NAME: &str = "Cameleer";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `ServerTokens`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tokens {
    /// No directive: `SERVER_SOFTWARE` has the version, the `Server` header has not; both list the components.
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
    /// As `Os`, with the components.
    Full,
}

impl Tokens {
    /// Parses a word of `ServerTokens`.
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

    /// Whether components are listed.
    pub fn names_components(self) -> bool {
        matches!(self, Tokens::Unsaid | Tokens::Full)
    }

    /// `SERVER_SOFTWARE`. `api` is the token of the Perl API, `added` are the components that modules registered.
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

    /// The `Server` header. A site that uses the Perl API lists it as a component, as in httpd.
    pub fn header(self, api: &str, is_spoken: bool, added: &[String]) -> String {
        match self {
            Tokens::Unsaid if is_spoken => listed(&format!("{NAME} {api}"), added),
            Tokens::Unsaid => listed(NAME, added),
            tokens => tokens.software(api, added),
        }
    }
}

fn listed(first: &str, added: &[String]) -> String {
    added.iter().fold(first.to_owned(), |text, part| format!("{text} {part}"))
}

/// `ServerSignature`: last line of generated pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signature {
    /// No line.
    Off,
    /// Software, host name and port.
    On,
    /// As `On`, with a link to ServerAdmin.
    Email,
}

/// Values of a signature.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// Text of the `Server` header.
    pub software: &'a str,
    /// Host name according to [`CanonicalName`].
    pub name: &'a str,
    /// Port according to [`CanonicalName`].
    pub port: u16,
    /// `ServerAdmin`
    pub admin: Option<&'a str>,
}

impl Signature {
    /// A line of HTML with a rule above it; empty for `Off`.
    pub fn html(self, named: &Named<'_>) -> String {
        let (software, name) = (escape(named.software), escape(named.name));
        let name = match (self, named.admin) {
            (Signature::Off, _) => return String::new(),
            (Signature::Email, Some(admin)) => format!("<a href=\"mailto:{}\">{name}</a>", escape(admin)),
            _ => name,
        };
        format!("<hr>\n<address>{software} Server at {name} Port {}</address>\n", named.port)
    }

    /// Parses a word of `ServerSignature`.
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

/// `UseCanonicalName`: source of name and port in links to the server itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CanonicalName {
    /// The name in the `Host` header.
    #[default]
    Off,
    /// `ServerName`
    On,
    /// The DNS name of the local address.
    Dns,
}

impl CanonicalName {
    /// Parses a word of `UseCanonicalName`.
    pub fn parse(word: &str) -> Result<CanonicalName, String> {
        Ok(match word.to_ascii_lowercase().as_str() {
            "off" => CanonicalName::Off,
            "on" => CanonicalName::On,
            "dns" => CanonicalName::Dns,
            _ => return Err(format!("expected On, Off or DNS, got \"{word}\"")),
        })
    }
}
