//! The versions of the program, of its Perl and of its libraries, and its commit.

use std::sync::OnceLock;

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commit and date of the source, `0123456789ab, 2026-11-27`: see build.rs.
const SOURCE: &str = env!("CAMELEER_SOURCE");
const DATE: &str = env!("CAMELEER_DATE");

/// The output of --version without the program's name.
pub fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| format!("{VERSION} ({SOURCE})\n{}", parts()))
}

/// Perl and libraries, a line each.
pub fn parts() -> String {
    format!(
        "perl {}\nlibraries: PCRE2 {}, SQLite {}, {}",
        libperl::PERL,
        config::pattern::pcre2_version(),
        databases::sqlite_version(),
        env!("CAMELEER_LIBRARIES"),
    )
}

/// The output of -v, with the labels of httpd's.
pub fn server() -> String {
    format!("Server version: Cameleer/{VERSION} (Unix)\nServer built:   {DATE}\n")
}
