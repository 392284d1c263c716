//! Texts of rules and conditions with variables: `$1`, `%1`, `%{NAME}`, `${map:key|default}`.

use super::ahead::{Question, RuleAnswer};
use super::map::{Map, Maps};
use super::source::{MatchedGroups, TemplateSource};
use super::variable::RuleVariable;

/// A text with variables.
#[derive(Debug, Clone, Default)]
pub struct Template(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    /// `$1`: a group of the rule's pattern.
    OfRule(usize),
    /// `%1`: a group of the last condition's pattern.
    OfCondition(usize),
    /// `%{NAME}`
    Known(RuleVariable),
    /// `%{HTTP:Name}`, with the name in lower case.
    Header(String),
    /// `%{ENV:name}`
    Variable(String),
    /// `%{SSL:name}`
    Tls(String),
    /// `%{LA-U:NAME}`
    OfPathAhead(RuleVariable),
    /// `%{LA-F:NAME}`
    OfFileAhead(RuleVariable),
    /// `${map:key|default}`
    Mapped {
        map: Map,
        key: Template,
        default: Template,
    },
}

const NAMES: &[(&str, RuleVariable)] = &[
    ("API_VERSION", RuleVariable::ApiVersion),
    ("CONTEXT_DOCUMENT_ROOT", RuleVariable::ContextDocumentRoot),
    ("CONTEXT_PREFIX", RuleVariable::ContextPrefix),
    ("DOCUMENT_ROOT", RuleVariable::DocumentRoot),
    ("HTTPS", RuleVariable::Https),
    ("IPV6", RuleVariable::Ipv6),
    ("IS_SUBREQ", RuleVariable::IsSubreq),
    ("PATH_INFO", RuleVariable::PathInfo),
    ("QUERY_STRING", RuleVariable::QueryString),
    ("REMOTE_ADDR", RuleVariable::RemoteAddr),
    ("CONN_REMOTE_ADDR", RuleVariable::ConnRemoteAddr),
    ("REMOTE_HOST", RuleVariable::RemoteHost),
    ("REMOTE_PORT", RuleVariable::RemotePort),
    ("REMOTE_USER", RuleVariable::RemoteUser),
    ("REQUEST_FILENAME", RuleVariable::RequestFilename),
    ("SCRIPT_FILENAME", RuleVariable::RequestFilename),
    ("REQUEST_METHOD", RuleVariable::RequestMethod),
    ("REQUEST_SCHEME", RuleVariable::RequestScheme),
    ("REQUEST_URI", RuleVariable::RequestUri),
    ("SERVER_ADDR", RuleVariable::ServerAddr),
    ("SERVER_ADMIN", RuleVariable::ServerAdmin),
    ("SERVER_NAME", RuleVariable::ServerName),
    ("SERVER_PORT", RuleVariable::ServerPort),
    ("SERVER_PROTOCOL", RuleVariable::ServerProtocol),
    ("SERVER_SOFTWARE", RuleVariable::ServerSoftware),
    ("AUTH_TYPE", RuleVariable::AuthType),
    ("THE_REQUEST", RuleVariable::TheRequest),
    ("TIME", RuleVariable::Time("%Y%m%d%H%M%S")),
    ("TIME_YEAR", RuleVariable::Time("%Y")),
    ("TIME_MON", RuleVariable::Time("%m")),
    ("TIME_DAY", RuleVariable::Time("%d")),
    ("TIME_HOUR", RuleVariable::Time("%H")),
    ("TIME_MIN", RuleVariable::Time("%M")),
    ("TIME_SEC", RuleVariable::Time("%S")),
    ("TIME_WDAY", RuleVariable::Time("%w")),
];

const HEADERS: [&str; 7] = [
    "HTTP_ACCEPT",
    "HTTP_COOKIE",
    "HTTP_FORWARDED",
    "HTTP_HOST",
    "HTTP_PROXY_CONNECTION",
    "HTTP_REFERER",
    "HTTP_USER_AGENT",
];

/// Maximum nesting of maps in keys of maps.
const MAX_DEPTH: usize = 4;

#[derive(Debug, PartialEq, Eq)]
pub struct Filled {
    pub text: String,
    /// Positions of question marks from the configuration. A question mark from a client begins no query.
    pub marks: Vec<usize>,
}

impl Filled {
    fn of_administrator(text: String) -> Filled {
        let marks = text.match_indices('?').map(|(at, _)| at).collect();
        Filled { text, marks }
    }

    fn of_client(text: String) -> Filled {
        Filled { text, marks: Vec::new() }
    }
}

/// Maximum length of an expanded text in bytes.
const MAX_BYTES: usize = 64 << 10;

impl Template {
    /// Parses a text. The error names the part that cannot be parsed.
    pub fn parse(source: &str, maps: &Maps) -> Result<Template, String> {
        parse(source, maps, 0)
    }

    /// Whether the text begins with a folder, or with DocumentRoot. Text from a client never names a file system path.
    pub fn names_folder(&self) -> bool {
        match self.0.first() {
            Some(Piece::Text(text)) => text.strip_prefix('/').is_some_and(|rest| rest.contains('/')),
            Some(Piece::Known(known)) => *known == RuleVariable::DocumentRoot,
            _ => false,
        }
    }

    /// Headers of the request that the text contains, except Host, which is part of every cache key.
    pub fn headers(&self) -> Vec<&str> {
        self.0.iter().flat_map(Piece::headers).collect()
    }

    /// Expands the text for one request. `escape` encodes groups of patterns. `None`: the text would be too long.
    pub fn fill(
        &self,
        fill: &dyn TemplateSource,
        found: MatchedGroups<'_>,
        escape: &dyn Fn(&str) -> String,
    ) -> Option<Filled> {
        let mut filled = Filled { text: String::new(), marks: Vec::new() };
        for piece in &self.0 {
            let Filled { text, marks } = piece.fill(fill, found, escape)?;
            filled.marks.extend(marks.into_iter().map(|at| filled.text.len() + at));
            fill.spend(text.len());
            filled.text.push_str(&text);
            if filled.text.len() > MAX_BYTES {
                return None;
            }
        }
        Some(filled)
    }

    /// Expands the text without escaping.
    pub fn text(&self, fill: &dyn TemplateSource, found: MatchedGroups<'_>) -> Option<String> {
        Some(self.fill(fill, found, &str::to_owned)?.text)
    }
}

impl Piece {
    fn headers(&self) -> Vec<&str> {
        match self {
            Piece::Header(name) if name != "host" => vec![name],
            Piece::Mapped { key, default, .. } => [key.headers(), default.headers()].concat(),
            _ => Vec::new(),
        }
    }

    fn fill(
        &self,
        fill: &dyn TemplateSource,
        found: MatchedGroups<'_>,
        escape: &dyn Fn(&str) -> String,
    ) -> Option<Filled> {
        Some(match self {
            Piece::Text(text) => Filled::of_administrator(text.clone()),
            Piece::OfRule(number) => Filled::of_client(escape(found.of_rule(*number))),
            Piece::OfCondition(number) => Filled::of_client(escape(found.of_condition(*number))),
            Piece::Known(known) => Filled::of_client(fill.known(*known)),
            Piece::Header(name) => Filled::of_client(fill.header(name)),
            Piece::Variable(name) => Filled::of_client(fill.variable(name)),
            Piece::Tls(name) => Filled::of_client(fill.tls(name)),
            Piece::OfPathAhead(known) => Filled::of_client(fill.ahead(true, *known)),
            Piece::OfFileAhead(known) => Filled::of_client(fill.ahead(false, *known)),
            Piece::Mapped { map, key, default } => {
                let key = key.text(fill, found)?;
                let value = look(map, &key, fill);
                fill.note(5, format_args!("map lookup: key='{key}' -> {}", value.as_deref().unwrap_or("no value")));
                match value {
                    Some(value) if map.is_function() => Filled::of_client(value),
                    Some(value) => Filled::of_administrator(value),
                    None => default.fill(fill, found, &str::to_owned)?,
                }
            }
        })
    }
}

fn look(map: &Map, key: &str, fill: &dyn TemplateSource) -> Option<String> {
    if let Map::Random(_) = map {
        fill.varies();
    }
    let Map::Asked(source) = map else { return map.look(key) };
    match fill.answer(Question::Value(source.clone(), key.to_owned()))? {
        RuleAnswer::Value(value) => value,
        RuleAnswer::LookedUp(_) => None,
    }
}

fn parse(source: &str, maps: &Maps, depth: usize) -> Result<Template, String> {
    if depth > MAX_DEPTH {
        return Err(format!(
            "keys of maps have maps in them more than {MAX_DEPTH} deep: at most {MAX_DEPTH} are allowed"
        ));
    }
    let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), source);
    while let Some(c) = rest.chars().next() {
        if let Some((piece, after)) = piece(rest, maps, depth)? {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
            pieces.push(piece);
            rest = after;
            continue;
        }
        let mut letters = rest.chars();
        letters.next();
        // A backslash makes the next character literal.
        let literal = if c == '\\' { letters.next().unwrap_or(c) } else { c };
        plain.push(literal);
        rest = letters.as_str();
    }
    pieces.push(Piece::Text(plain));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    Ok(Template(pieces))
}

fn piece<'a>(rest: &'a str, maps: &Maps, depth: usize) -> Result<Option<(Piece, &'a str)>, String> {
    if let Some(inner) = rest.strip_prefix("%{") {
        let (name, after) = inner.split_once('}').ok_or_else(|| format!("`%{{` is not closed in \"{rest}\""))?;
        return Ok(Some((named(name)?, after)));
    }
    if let Some(inner) = rest.strip_prefix("${") {
        let end = closing(inner).ok_or_else(|| format!("`${{` is not closed in \"{rest}\""))?;
        let (within, after) = inner.split_at(end);
        return Ok(Some((mapped(within, maps, depth)?, &after[1..])));
    }
    let group =
        |sign: char| rest.strip_prefix(sign).and_then(|after| Some((after.chars().next()?.to_digit(10)?, after)));
    let numbered = |number: u32| number as usize;
    Ok(group('$')
        .map(|(number, after)| (Piece::OfRule(numbered(number)), &after[1..]))
        .or_else(|| group('%').map(|(number, after)| (Piece::OfCondition(numbered(number)), &after[1..]))))
}

/// Position of the brace that closes the one before `inner`.
fn closing(inner: &str) -> Option<usize> {
    let mut open = 0;
    for (at, c) in inner.char_indices() {
        match c {
            '{' => open += 1,
            '}' if open == 0 => return Some(at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// `map:key|default`
fn mapped(within: &str, maps: &Maps, depth: usize) -> Result<Piece, String> {
    let (name, key) = within.split_once(':').ok_or_else(|| format!("expected `${{map:key}}`, got `${{{within}}}`"))?;
    let map = maps.get(name).ok_or_else(|| format!("no RewriteMap {name} above this line"))?;
    let (key, default) = key.split_once('|').unwrap_or((key, ""));
    Ok(Piece::Mapped { map, key: parse(key, maps, depth + 1)?, default: parse(default, maps, depth + 1)? })
}

fn named(name: &str) -> Result<Piece, String> {
    if let Some((kind, argument)) = name.split_once(':') {
        return match kind.to_ascii_uppercase().as_str() {
            "HTTP" => Ok(Piece::Header(argument.to_ascii_lowercase())),
            "ENV" => Ok(Piece::Variable(argument.to_owned())),
            "SSL" => Ok(Piece::Tls(argument.to_owned())),
            "LA-U" => known(argument).map(Piece::OfPathAhead).ok_or_else(|| unknown(name)),
            "LA-F" => known(argument).map(Piece::OfFileAhead).ok_or_else(|| unknown(name)),
            _ => Err(format!("%{{{name}}} is not supported; use HTTP:, ENV:, SSL:, LA-U: or LA-F: and a name")),
        };
    }
    let upper = name.to_ascii_uppercase();
    if HEADERS.contains(&upper.as_str()) {
        return Ok(Piece::Header(upper[5..].to_ascii_lowercase().replace('_', "-")));
    }
    // As in httpd, other HTTP_ names are empty; `%{HTTP:Name}` names any header.
    if upper.starts_with("HTTP_") {
        return Ok(Piece::Text(String::new()));
    }
    known(name).map(Piece::Known).ok_or_else(|| unknown(name))
}

fn known(name: &str) -> Option<RuleVariable> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, known)| *known)
}

fn unknown(name: &str) -> String {
    format!("%{{{name}}} is not supported in rules; use %{{HTTP:Header}}, %{{ENV:name}} or a variable of mod_rewrite")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::response::rewrite::MapSource;

    struct Names;

    impl TemplateSource for Names {
        fn known(&self, known: RuleVariable) -> String {
            format!("{known:?}")
        }
        fn header(&self, name: &str) -> String {
            format!("<{name}>")
        }
        fn variable(&self, name: &str) -> String {
            format!("[{name}]")
        }
        fn tls(&self, name: &str) -> String {
            format!("({name})")
        }
        fn varies(&self) {}
        fn spend(&self, _: usize) {}
        fn note(&self, _: u8, _: std::fmt::Arguments<'_>) {}
        fn answer(&self, question: Question) -> Option<RuleAnswer> {
            match question {
                Question::Value(MapSource::Program(program), key) => {
                    Some(RuleAnswer::Value(Some(format!("{}:{key}", program.command))))
                }
                _ => None,
            }
        }
        fn ahead(&self, is_path: bool, known: RuleVariable) -> String {
            format!("{is_path}{known:?}")
        }
    }

    fn filled(source: &str) -> Result<Filled, String> {
        let map = |source: &str| Map::parse(source, |_| Err(String::new())).unwrap();
        let maps = Maps::default().with("low", map("int:tolower")).with("program", map("prg:/bin/x -y"));
        let rule = ["/A/b".to_owned(), "A?".to_owned()];
        let found = MatchedGroups { rule: &rule, condition: &[] };
        Ok(Template::parse(source, &maps)?.fill(&Names, found, &str::to_owned).unwrap())
    }

    #[test]
    fn templates_expand_as_httpds_manual_specifies() {
        for (source, expected) in [
            ("/x/$1/%1$9", "/x/A?/"),
            (r"/a\$1\\%{HTTP_HOST}", r"/a$1\<host>"),
            ("%{REQUEST_URI}%{ENV:x}%{HTTP:X-Y}", "RequestUri[x]<x-y>"),
            ("${low:$1|none}", "a?"),
            ("$ % {x}", "$ % {x}"),
            ("%{LA-U:REMOTE_USER}%{la-f:script_filename}", "trueRemoteUserfalseRequestFilename"),
            ("${program:$1}", "/bin/x -y:A?"),
        ] {
            assert_eq!(filled(source).unwrap().text, expected, "{source}");
        }
        for wrong in ["%{REQUEST_URI", "%{NOBODY}", "%{LA-U:NOBODY}", "${other:x}", "${low}", "${low:x"] {
            assert!(filled(wrong).is_err(), "{wrong}");
        }
        let deep = "${low:".repeat(9) + &"}".repeat(9);
        assert!(filled(&deep).is_err());
    }

    #[test]
    fn only_a_question_mark_of_the_configuration_begins_a_query() {
        let Filled { text, marks } = filled("/$1?a=$1").unwrap();
        assert_eq!((text.as_str(), marks), ("/A??a=A?", vec![3]));
        let Filled { text, marks } = filled("/${low:$1}?").unwrap();
        assert_eq!((text.as_str(), marks), ("/a??", vec![3]), "the value of a function counts as the client's");
    }
}
