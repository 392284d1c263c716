//! Support of mod_perl 2's methods: the methods of a running server's classes, as tests/mod_perl_2/methods.rs
//! lists them.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::rows::Support;

static METHODS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lines = include_str!("generation_2.txt").lines().map(str::split_ascii_whitespace);
    lines.filter_map(|mut words| Some((words.next()?, words.collect()))).collect()
});

/// Methods that work with exceptions.
const PARTLY: &[(&str, &str, &str)] = &[
    (
        "Apache2::Connection",
        "client_socket",
        "is the client's in a PerlProcessConnectionHandler; in a request it is a socket without data",
    ),
    ("APR::Request::Hook", "apr_xml_parser", "dies: Perl code has no access to its result"),
];

/// Classes of which `$r` may be an object.
const ALSO: &[(&str, &[&str])] = &[("Apache2::RequestRec", &["Apache2::Request", "Apache2::Filter"])];

/// Methods of every class.
const OF_ALL: &[&str] = &["import", "unimport", "can", "isa", "DOES", "VERSION", "handler"];

/// mod_perl 2's class for a package of mod_perl 1.
pub fn class_of(package: &str) -> &str {
    match package {
        "Apache" => "Apache2::RequestRec",
        "Apache::Connection" => "Apache2::Connection",
        "Apache::Server" => "Apache2::ServerRec",
        "Apache::Log" => "Apache2::Log::Request",
        "Apache::URI" => "APR::URI",
        "Apache::Table" => "APR::Table",
        "Apache::SubRequest" => "Apache2::SubRequest",
        other => other,
    }
}

/// The support of a method, with a note; `None` for a class in no list.
pub fn support(class: &str, method: &str) -> Option<(Support, &'static str)> {
    let has = |class: &str| METHODS.get(class).is_some_and(|methods| methods.contains(&method));
    let partly = PARTLY.iter().find(|(of, name, _)| *of == class && *name == method);
    if let Some((.., note)) = partly {
        return Some((Support::Partly, note));
    }
    METHODS.get(class)?;
    let also = ALSO.iter().filter(|(of, _)| *of == class).flat_map(|(_, classes)| *classes);
    match has(class) || OF_ALL.contains(&method) || also.into_iter().any(|class| has(class)) {
        true => Some((Support::Works, "")),
        false => Some((Support::Not, "is not a supported method of mod_perl 2")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_those_of_the_classes() {
        let cases = [
            ("Apache2::RequestRec", "content_type", Some(Support::Works)),
            ("Apache2::RequestRec", "param", Some(Support::Works)),
            ("Apache2::RequestRec", "send_http_header", Some(Support::Not)),
            ("Apache2::RequestRec", "location_merge", Some(Support::Works)),
            ("Apache2::Connection", "client_socket", Some(Support::Partly)),
            ("APR::Table", "overlap", Some(Support::Works)),
            ("Apache2::ServerUtil", "can", Some(Support::Works)),
            ("Apache2::Mine", "new", None),
        ];
        for (class, method, expected) in cases {
            assert_eq!(support(class, method).map(|(state, _)| state), expected, "{class} {method}");
        }
        for (class, method, _) in PARTLY {
            assert!(METHODS.get(class).is_some_and(|methods| methods.contains(method)), "{class} {method}");
        }
    }
}
