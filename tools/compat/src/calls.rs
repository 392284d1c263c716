//! The `Apache::` names in a line of Perl.

use std::sync::LazyLock;

use regex::Regex;

/// A name of the API that a program uses.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApiName {
    /// `use Apache::Util`, `Apache::Foo->new`
    Module(String),
    /// A method or function and its package.
    Method(String, String),
}

/// Patterns of objects, and the package that they are blessed into.
const OBJECTS: &[(&str, &str)] = &[
    // `$req` is not included: it is often a request of LWP.
    (r"\$(?:r|apr)\s*->\s*(\w+)", "Apache"),
    (r"\bApache\s*->\s*request\s*->\s*(\w+)", "Apache"),
    (r"->\s*connection\s*->\s*(\w+)", "Apache::Connection"),
    (r"->\s*server\s*->\s*(\w+)", "Apache::Server"),
    (r"->\s*log\s*->\s*(\w+)", "Apache::Log"),
    (r"->\s*parsed_uri\s*->\s*(\w+)", "Apache::URI"),
    (r"->\s*(?:headers_in|headers_out|err_headers_out|notes|subprocess_env)\s*->\s*(\w+)", "Apache::Table"),
    (r"->\s*lookup_(?:uri|file)\s*\([^)]*\)\s*->\s*(\w+)", "Apache::SubRequest"),
];

static METHODS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    OBJECTS.iter().filter_map(|(pattern, package)| Some((Regex::new(pattern).ok()?, *package))).collect()
});

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static MODULE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"\b(?:use|require)\s+((?:Apache2?|APR|ModPerl)(?:::\w+)*|GTop|B::TerseSize|mod_perl2?)\b")
});
static ON_CLASS: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?:\A|[^\w:$%@])((?:Apache2?|APR|ModPerl)(?:::\w+)*)\s*->\s*(\w+)"));
static FUNCTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?:\A|[^>\w:$&%@\\])&?((?:Apache2?|APR|ModPerl)(?:::\w+)*)::(\w+)\s*\("));

/// The names in a line, in the order of the patterns.
pub fn names(line: &str) -> Vec<ApiName> {
    let mut names = Vec::new();
    for found in each(&MODULE, line) {
        names.push(ApiName::Module(found[1].to_owned()));
    }
    for found in each(&ON_CLASS, line).chain(each(&FUNCTION, line)) {
        // `use Apache::Constants ();` contains no call.
        let is_import = names.contains(&ApiName::Module(format!("{}::{}", &found[1], &found[2])));
        if !is_import {
            names.push(ApiName::Method(found[1].to_owned(), found[2].to_owned()));
        }
    }
    for (regex, package) in METHODS.iter() {
        names
            .extend(regex.captures_iter(line).map(|found| ApiName::Method((*package).to_owned(), found[1].to_owned())));
    }
    names
}

fn each<'a>(regex: &'a LazyLock<Option<Regex>>, line: &'a str) -> impl Iterator<Item = regex::Captures<'a>> {
    regex.iter().flat_map(move |regex| regex.captures_iter(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_methods_and_functions_are_found() {
        let method = |package: &str, name: &str| ApiName::Method(package.into(), name.into());
        let module = |name: &str| ApiName::Module(name.into());
        let cases = [
            ("use Apache::Constants qw(OK);", vec![module("Apache::Constants")]),
            ("use Apache::Constants ();", vec![module("Apache::Constants")]),
            // The end of a longer name does not count.
            ("Plack::Handler::Apache2->preload('app.psgi')", vec![]),
            ("my $r = Apache->request;", vec![method("Apache", "request")]),
            ("$r->send_http_header('text/html');", vec![method("Apache", "send_http_header")]),
            (
                "$r->connection->remote_ip",
                vec![method("Apache", "connection"), method("Apache::Connection", "remote_ip")],
            ),
            ("print Apache::Util::escape_html($x);", vec![method("Apache::Util", "escape_html")]),
            ("Apache::exit();", vec![method("Apache", "exit")]),
            ("Apache2::ServerUtil->server", vec![method("Apache2::ServerUtil", "server")]),
            (
                "APR::UUID->new, ModPerl::Util::exit()",
                vec![method("APR::UUID", "new"), method("ModPerl::Util", "exit")],
            ),
            ("my %x = ($Apache::Registry::x => 1)", vec![]),
        ];
        for (line, expected) in cases {
            assert_eq!(names(line), expected, "{line}");
        }
    }
}
