//! Names of operators, functions and variables.

use super::super::functions;
use super::super::source::DiskFact;
use super::super::tree::{Comparing, ExprFunction, Globbing, Node, Word, WordComparison};

/// The test with this name, without `-`.
pub fn unary(name: &str) -> Option<fn(Word) -> Node> {
    Some(match name {
        "n" => |word| Node::Not(Box::new(Node::IsEmpty(word))),
        "z" => Node::IsEmpty,
        "T" => Node::IsTrue,
        "d" => |word| Node::Disk(DiskFact::IsFolder, word),
        "e" => |word| Node::Disk(DiskFact::Exists, word),
        "f" => |word| Node::Disk(DiskFact::IsFile, word),
        "s" => |word| Node::Disk(DiskFact::HasContent, word),
        "L" | "h" => |word| Node::Disk(DiskFact::IsLink, word),
        "x" => |word| Node::Disk(DiskFact::IsExecutable, word),
        "U" | "A" => Node::Path,
        "F" => Node::File,
        _ => return None,
    })
}

/// The operator between words with this name in lower case, without `-`.
pub fn binary(name: &str) -> Option<&'static str> {
    let all = ["eq", "ne", "lt", "le", "gt", "ge", "in", "ipmatch", "strmatch", "strcmatch", "fnmatch"];
    all.into_iter().find(|known| *known == name)
}

pub fn comparison(operator: &str) -> Option<WordComparison> {
    let is: fn(std::cmp::Ordering) -> bool = match operator {
        "==" | "=" | "eq" => |order| order.is_eq(),
        "!=" | "ne" => |order| order.is_ne(),
        "<" | "lt" => |order| order.is_lt(),
        "<=" | "le" => |order| order.is_le(),
        ">" | "gt" => |order| order.is_gt(),
        ">=" | "ge" => |order| order.is_ge(),
        _ => return None,
    };
    let kind = match operator.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => Comparing::Numbers,
        false => Comparing::Texts,
    };
    Some(WordComparison { kind, is })
}

/// The kind of wildcards of this operator.
pub fn globbing(operator: &str) -> Option<Globbing> {
    let plain = Globbing::default();
    match operator {
        "strmatch" => Some(plain),
        "strcmatch" => Some(Globbing { folds_case: true, ..plain }),
        "fnmatch" => Some(Globbing { keeps_slashes: true, ..plain }),
        _ => None,
    }
}

/// The function with this name; case does not matter.
pub fn function(name: &str) -> Option<ExprFunction> {
    let name = name.to_ascii_lowercase();
    Some(match name.as_str() {
        "req" | "http" => ExprFunction::Request(true),
        "req_novary" => ExprFunction::Request(false),
        "resp" => ExprFunction::Response,
        "reqenv" => ExprFunction::RequestEnv,
        "note" => ExprFunction::Note,
        "osenv" => ExprFunction::OsEnv,
        "env" => ExprFunction::Env,
        "ssl" => ExprFunction::Tls,
        "file" => ExprFunction::Disk(DiskFact::File),
        "filesize" => ExprFunction::Disk(DiskFact::FileSize),
        "filemod" => ExprFunction::Disk(DiskFact::FileMod),
        pure => ExprFunction::Pure(functions::find(pure)?),
    })
}

/// Headers that are variables.
const HEADERS: &[(&str, &str)] = &[
    ("HTTP_ACCEPT", "Accept"),
    ("HTTP_COOKIE", "Cookie"),
    ("HTTP_FORWARDED", "Forwarded"),
    ("HTTP_HOST", "Host"),
    ("HTTP_PROXY_CONNECTION", "Proxy-Connection"),
    ("HTTP_REFERER", "Referer"),
    ("HTTP_USER_AGENT", "User-Agent"),
];

/// The variable `%{NAME}`; case does not matter.
pub fn variable(name: &str) -> Option<Word> {
    let text = |text: &str| Box::new(Word::Text(text.to_owned()));
    if let Some((_, header)) = HEADERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Some(Word::Call(ExprFunction::Request(true), text(header)));
    }
    if name.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("SSL_")) {
        return Some(Word::Call(ExprFunction::Tls, text(&name.to_ascii_uppercase())));
    }
    name.parse().ok().map(Word::Variable)
}
