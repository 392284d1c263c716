//! Names that the table does not have: what to tell the user.

use super::directives;

/// httpd's and mod_perl's directives that we know to be missing, and what to do meanwhile.
const LATER: &[(&[&str], &str)] = &[
    (
        &[
            "AuthDBMUserFile",
            "AuthDBMGroupFile",
            "AuthDigestProvider",
            "AuthDigestDomain",
            "AuthDigestFile",
            "AuthMerging",
        ],
        "is not supported: users stand in the file of AuthUserFile; remove it, or check them in a PerlAuthenHandler",
    ),
    (
        &["RewriteEngine", "RewriteRule", "RewriteCond", "RewriteBase", "RewriteMap", "RewriteOptions"],
        "is not supported yet: use Alias and ScriptAlias, or rewrite in the Perl program",
    ),
    (&["Action", "Script"], "is not supported: use SetHandler or AddHandler"),
    (
        &["ProxyPass", "ProxyPassReverse", "ProxyRequests", "RemoteIPHeader", "RemoteIPInternalProxy"],
        "is not supported yet",
    ),
    (
        &["SSLEngine", "SSLCertificateFile", "SSLCertificateKeyFile", "SSLProtocol", "SSLCipherSuite", "Protocols"],
        "is not supported yet: put a TLS proxy in front",
    ),
    (
        &[
            "PerlInitHandler",
            "PerlPostReadRequestHandler",
            "PerlTransHandler",
            "PerlHeaderParserHandler",
            "PerlAccessHandler",
            "PerlAuthenHandler",
            "PerlAuthzHandler",
            "PerlTypeHandler",
            "PerlFixupHandler",
            "PerlLogHandler",
            "PerlChildInitHandler",
            "PerlChildExitHandler",
            "PerlRestartHandler",
            "PerlDispatchHandler",
        ],
        "is not supported yet: of the phases only PerlHandler and PerlCleanupHandler run so far",
    ),
    (
        &[
            "PerlResponseHandler",
            "PerlOptions",
            "PerlLoadModule",
            "PerlPostConfigRequire",
            "PerlConfigRequire",
            "PerlSwitches",
        ],
        "belongs to mod_perl 2, which is not supported yet: see PerlHandler, PerlModule, PerlRequire and PerlLib",
    ),
    (
        &["ServerTokens", "ServerSignature", "TraceEnable", "UseCanonicalName"],
        "is not supported yet: remove it, or put it in <IfModule !cameleer.c>",
    ),
    (
        &[
            "Mutex",
            "LockFile",
            "ScoreBoardFile",
            "ServerLimit",
            "ThreadsPerChild",
            "ClearModuleList",
            "AddModule",
            "ServerType",
        ],
        "has nothing to do here: remove it, or put it in <IfModule !cameleer.c>",
    ),
    (&["BindAddress"], "is Apache 1's: write Listen address:port"),
    (&["If", "ElseIf", "Else", "IfVersion", "IfFile", "Proxy", "Macro"], "is not supported yet"),
];

/// The sentence for a name that is no directive.
pub fn message(name: &str) -> String {
    let same = |known: &str| known.eq_ignore_ascii_case(name);
    if let Some((_, advice)) = LATER.iter().find(|(names, _)| names.iter().any(|known| same(known))) {
        return (*advice).to_owned();
    }
    match nearest(name) {
        Some(near) => format!("is not a directive: did you mean {near}?"),
        None => "is not a directive: `cameleer check --directives` lists those that are".to_owned(),
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    let names = directives::all().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()));
    let (distance, near) = names.map(|known| (distance(name, known), known)).min_by_key(|(distance, _)| *distance)?;
    // A third of a name wrong is a slip, more is another name.
    (distance * 3 <= name.len()).then_some(near)
}

/// Levenshtein's distance, letters of either case equal.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase().into_bytes(), b.to_ascii_lowercase().into_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let best = (row[j] + 1).min(row[j + 1] + 1).min(diagonal + usize::from(x != y));
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_directive_that_was_meant() {
        assert_eq!(nearest("DocumentRot"), Some("DocumentRoot"));
        assert_eq!(nearest("perlsetvat"), Some("PerlSetVar"));
        assert_eq!(nearest("MaxWorkers"), None);
    }

    #[test]
    fn no_directive_that_we_have_is_called_missing() {
        for (names, _) in LATER {
            for name in *names {
                assert!(crate::config::directives::find(name).is_err(), "{name}");
            }
        }
    }
}
