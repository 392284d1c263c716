use std::collections::BTreeMap;

use super::super::tests::record;
use super::*;
use crate::PlaceConfig;

fn collected(fill: impl FnOnce(EnvSink<'_>)) -> BTreeMap<String, String> {
    let mut pairs = BTreeMap::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    fill(&mut |key, value| drop(pairs.insert(text(key), text(value))));
    pairs
}

const HEADERS: &[(&[u8], &[u8])] = &[
    (b"host", b"example.org:8080"),
    (b"x-a", b"1"),
    (b"cookie", b"a=b"),
    (b"proxy", b"evil"),
    (b"x_a", b"evil"),
    (b"x.a", b"odd"),
    (b"authorization", b"Basic Zm9v"),
    (b"x-a", b"2"),
    (b"cookie", b"c=d"),
    (b"content-type", b"text/x"),
    (b"content-length", b"0"),
];

#[test]
fn a_script_finds_cgi_1_1() {
    let place = PlaceConfig {
        document_root: "/www".into(),
        server_admin: "me@example.org".into(),
        set_env: vec![("SERVER_ADMIN".into(), "set".into()), ("X".into(), "y".into())],
        ..Default::default()
    };
    let mut r = record(place, "/cgi/a.pl/more", HEADERS, Some(9));
    let env = collected(|each| cgi(&mut r, each));
    let expected = [
        ("GATEWAY_INTERFACE", "CGI-Perl/1.1"),
        ("MOD_PERL", "mod_perl/1.31"),
        ("SCRIPT_NAME", "/cgi/a.pl"),
        ("SCRIPT_FILENAME", "/www/cgi/a.pl"),
        ("PATH_INFO", "/more"),
        ("PATH_TRANSLATED", "/www/more"),
        ("REQUEST_URI", "/cgi/a.pl/more?q=1"),
        ("QUERY_STRING", "q=1"),
        ("SERVER_PORT", "8080"),
        ("REMOTE_PORT", "4000"),
        ("SERVER_ADMIN", "set"),
        ("X", "y"),
        ("HTTP_X_A", "1, 2"),
        ("HTTP_COOKIE", "a=b; c=d"),
        ("CONTENT_TYPE", "text/x"),
        ("CONTENT_LENGTH", "0"),
    ];
    for (key, value) in expected {
        assert_eq!(env.get(key).map(String::as_str), Some(value), "{key}");
    }
    for absent in ["HTTP_PROXY", "HTTP_AUTHORIZATION", "HTTP_CONTENT_TYPE", "HTTPS", "REMOTE_USER"] {
        assert!(!env.contains_key(absent), "{absent}");
    }
    assert!(!env.values().any(|value| value == "odd"));
}

#[test]
fn without_setup_env_only_what_was_configured_is_there() {
    let place = PlaceConfig { setup_env: false, path: "/bin".into(), ..Default::default() };
    let env = collected(|each| cgi(&mut record(place, "/x", HEADERS, None), each));
    assert_eq!(env.keys().collect::<Vec<_>>(), ["GATEWAY_INTERFACE", "MOD_PERL", "PATH"]);
}

#[test]
fn a_psgi_application_finds_its_mount_and_every_header() {
    let mut r = record(PlaceConfig::default(), "/app/x", HEADERS, Some(4));
    let env = collected(|each| psgi(&mut r, each));
    let expected =
        [("SCRIPT_NAME", "/app"), ("PATH_INFO", "/x"), ("HTTP_AUTHORIZATION", "Basic Zm9v"), ("SERVER_PORT", "8080")];
    for (key, value) in expected {
        assert_eq!(env.get(key).map(String::as_str), Some(value), "{key}");
    }
    assert!(!env.contains_key("HTTP_PROXY") && !env.contains_key("GATEWAY_INTERFACE"));
}
