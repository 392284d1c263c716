//! `SSLCipherSuite`: names of suites (OpenSSL's or IANA's), and the supported part of OpenSSL's list syntax.

/// A supported suite.
pub struct Suite {
    openssl: &'static str,
    iana: &'static str,
    bits: u16,
}

/// Suites of TLS 1.3, which have one name in OpenSSL.
pub const TLS13: &[Suite] = &[
    Suite { openssl: "TLS_AES_256_GCM_SHA384", iana: "TLS13_AES_256_GCM_SHA384", bits: 256 },
    Suite { openssl: "TLS_AES_128_GCM_SHA256", iana: "TLS13_AES_128_GCM_SHA256", bits: 128 },
    Suite { openssl: "TLS_CHACHA20_POLY1305_SHA256", iana: "TLS13_CHACHA20_POLY1305_SHA256", bits: 256 },
];

/// Suites of TLS 1.2.
pub const TLS12: &[Suite] = &[
    Suite { openssl: "ECDHE-ECDSA-AES256-GCM-SHA384", iana: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", bits: 256 },
    Suite { openssl: "ECDHE-ECDSA-AES128-GCM-SHA256", iana: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", bits: 128 },
    Suite {
        openssl: "ECDHE-ECDSA-CHACHA20-POLY1305",
        iana: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        bits: 256,
    },
    Suite { openssl: "ECDHE-RSA-AES256-GCM-SHA384", iana: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", bits: 256 },
    Suite { openssl: "ECDHE-RSA-AES128-GCM-SHA256", iana: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", bits: 128 },
    Suite { openssl: "ECDHE-RSA-CHACHA20-POLY1305", iana: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", bits: 256 },
];

/// OpenSSL's names of groups that contain supported suites.
const GROUPS: &str = "ALL DEFAULT HIGH ECDHE EECDH kECDHE kEECDH ECDH AESGCM ECDHE+AESGCM \
    EECDH+AESGCM CHACHA20";

/// OpenSSL's name of a suite (`SSL_CIPHER`), and its key length in bits.
pub fn openssl_name(iana: &str) -> Option<(&'static str, u16)> {
    TLS13.iter().chain(TLS12).find(|suite| suite.iana == iana).map(|suite| (suite.openssl, suite.bits))
}

/// The suites of a list (`None`: all), and the unknown words.
pub fn read<'a>(known: &[Suite], list: &'a str) -> (Option<Vec<&'static str>>, Vec<&'a str>) {
    let mut chosen = Vec::new();
    let mut unknown = Vec::new();
    let words = list.split([':', ',', ' ']).filter(|word| !word.is_empty() && !word.starts_with('@'));
    for word in words {
        let name = word.trim_start_matches(['!', '-', '+']);
        let suite = known.iter().find(|suite| suite.openssl == name || suite.iana == name);
        match suite {
            Some(suite) if word.starts_with(['!', '-']) => chosen.retain(|iana| *iana != suite.iana),
            Some(suite) => chosen.push(suite.iana),
            None if word.starts_with(['!', '-', '+']) || is_of_other_version(name) => {}
            None if GROUPS.split(' ').any(|group| group == name) => chosen.extend(known.iter().map(|suite| suite.iana)),
            None => unknown.push(word),
        }
    }
    let mut seen = Vec::new();
    chosen.retain(|iana| {
        !seen.contains(iana) && {
            seen.push(*iana);
            true
        }
    });
    ((!chosen.is_empty()).then_some(chosen), unknown)
}

/// Whether `name` is a suite of either version: a list may contain both, and each version takes its own.
fn is_of_other_version(name: &str) -> bool {
    TLS13.iter().chain(TLS12).any(|suite| suite.openssl == name || suite.iana == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, expected: Option<&[&str]>, warned: bool) {
        let (chosen, unknown) = read(TLS12, list);
        assert_eq!(chosen.as_deref(), expected, "{list}");
        assert_eq!(!unknown.is_empty(), warned, "{list}");
    }

    #[test]
    fn suites_have_openssl_and_iana_names() {
        let one = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
        check("ECDHE-RSA-AES128-GCM-SHA256", Some(&[one]), false);
        check(one, Some(&[one]), false);
        check("AES128-SHA:ECDHE-RSA-AES128-GCM-SHA256:!aNULL", Some(&[one]), true);
        check("AES128-SHA", None, true);
        let all: Vec<&str> = TLS12.iter().map(|suite| suite.iana).collect();
        check("HIGH:!aNULL:!MD5", Some(&all), false);
        check("HIGH:!ECDHE-RSA-CHACHA20-POLY1305", Some(&all[..5]), false);
    }
}
