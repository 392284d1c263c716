use super::*;
use config::access::HashLimits;
use config::access::LdapServer;

/// The example of RFC 2617, section 3.5.
const MUFASA: &str = "username=\"Mufasa\", realm=\"testrealm@host.com\", \
    nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", uri=\"/dir/index.html\", qop=auth, nc=00000001, \
    cnonce=\"0a4f113b\", response=\"6629fae49393a05397450978507c4ef1\"";
const KEY: [u8; 16] = [1; 16];
const REALM: &str = "testrealm@host.com";

fn checked(header: &str, target: &str) -> Result<DigestProof, Proof> {
    let hash = md5(&["Mufasa", "testrealm@host.com", "Circle Of Life"]);
    let file = DigestFile::parse(format!("Mufasa:testrealm@host.com:{hash}\n")).unwrap();
    let (authorization, target) = (Some(header.as_bytes()), target.as_bytes());
    let limits = HashLimits::default();
    let ldap = &LdapServer::default();
    let request = AuthRequest {
        authorization,
        limits,
        ldap,
        source: 0,
        method: "GET",
        target,
        realm: REALM,
        key: &KEY,
        scope: None,
    };
    let find = |user: &str, realm: &str| Ok::<_, ()>(file.hash_of(user, realm).map(str::to_owned));
    check(&request, &AccessRules::default(), find).expect("the file is there")
}

/// An answer with a nonce of the server's own.
fn answered(nonce: &str, changed: (&str, &str)) -> String {
    let secret = md5(&["Mufasa", "testrealm@host.com", "Circle Of Life"]);
    let response = md5(&[&secret, nonce, "00000001", "c", "auth", &md5(&["GET", "/a"])]);
    let fields = [
        ("username", "Mufasa"),
        ("realm", "testrealm@host.com"),
        ("nonce", nonce),
        ("uri", "/a"),
        ("qop", "auth"),
        ("nc", "00000001"),
        ("cnonce", "c"),
        ("response", &response),
    ];
    let field = |(name, value)| format!("{name}=\"{}\"", if name == changed.0 { changed.1 } else { value });
    format!("Digest {}", fields.map(field).join(", "))
}

#[test]
fn the_example_of_rfc_2617_has_the_right_password_and_a_foreign_nonce() {
    let refused = |header: &str| match checked(header, "/dir/index.html") {
        Err(Proof::Refused(why)) => why,
        _ => panic!("not refused: {header}"),
    };
    assert_eq!(refused(&format!("Digest {MUFASA}")), "user Mufasa: the nonce is not this server's");
    let guess = MUFASA.replace("6629", "6628");
    assert_eq!(refused(&format!("Digest {guess}")), "user Mufasa: password mismatch");
}

#[test]
fn an_answer_with_a_fresh_nonce_proves_both_sides() {
    let nonce = nonce::made(&KEY, SystemTime::now());
    let Ok(proof) = checked(&answered(&nonce, ("", "")), "/a") else { panic!("the right password") };
    assert_eq!(proof.user, "Mufasa");
    let info = proof.info.expect("qop is auth");
    assert!(info.starts_with("rspauth=\"") && info.ends_with("\", cnonce=\"c\", nc=00000001, qop=auth"), "{info}");
}

#[test]
fn an_old_nonce_is_stale_only_with_the_right_password() {
    let nonce = nonce::made(&KEY, SystemTime::UNIX_EPOCH);
    assert!(matches!(checked(&answered(&nonce, ("", "")), "/a"), Err(Proof::Stale)));
    assert!(matches!(checked(&answered(&nonce, ("nc", "00000002")), "/a"), Err(Proof::Refused(_))));
}

#[test]
fn an_answer_to_another_request_or_challenge_is_refused() {
    let nonce = nonce::made(&KEY, SystemTime::now());
    assert!(matches!(checked(&answered(&nonce, ("", "")), "/b"), Err(Proof::Invalid(_))));
    for changed in [("realm", "other"), ("qop", "auth-int"), ("cnonce", ""), ("response", "é"), ("qop", "")] {
        assert!(matches!(checked(&answered(&nonce, changed), "/a"), Err(Proof::Refused(_))), "{changed:?}");
    }
    assert!(matches!(checked(&answered(&nonce, ("username", "eve")), "/a"), Err(Proof::Unknown(_))));
    assert!(matches!(checked("Basic eA==", "/a"), Err(Proof::Nobody)));
}
