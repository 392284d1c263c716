//! RFC 9111, section 3: the responses that may be stored.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime};

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::Linger;

use super::{serve, serve_with};
use crate::support::{Request, Server, Site, until};

/// The HTTP date `seconds` from now; negative for the past.
pub fn date(seconds: i64) -> String {
    let length = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    httpdate::fmt_http_date(if seconds < 0 { now - length } else { now + length })
}

#[test]
fn an_answer_is_made_once_and_given_whole_to_all() {
    let site = serve("");
    let first = site.ask("/a?b", "200|Cache-Control: max-age=60|X-Own: yes").is(200);
    let second = site.ask("/a?b", "200|Cache-Control: max-age=60|X-Own: other").is(200);
    assert_eq!((first.text().as_str(), second.text().as_str(), site.runs()), ("run 1", "run 1", 1));
    assert_eq!(
        (first.header("x-cache").as_deref(), second.header("x-cache").as_deref()),
        (Some("MISS from localhost"), Some("HIT from localhost"))
    );
    for name in ["x-own", "content-type", "cache-control", "content-length"] {
        assert_eq!(first.header(name), second.header(name), "{name}");
    }
    assert_eq!(
        (first.header("age"), second.header("age").is_some(), second.header("date").is_some()),
        (None, true, true)
    );
    assert_eq!(site.ask("/a?c", "200|Cache-Control: max-age=60").text(), "run 2");
    assert_eq!(site.ask("/b", "200|Cache-Control: max-age=60").text(), "run 3");
}

#[test]
fn no_response_is_stored_without_cache_enable() {
    let site = serve_with("", "");
    site.never_keeps("/a", "200|Cache-Control: public, max-age=60");
}

/// 3: "the no-store cache directive is not present", "the private cache directive is not present or allows", 5.2.2
#[test]
fn a_response_with_no_store_or_private_is_never_stored() {
    let site = serve("");
    for answer in [
        "200|Cache-Control: no-store",
        "200|Cache-Control: no-store, max-age=60, public",
        "200|Cache-Control: max-age=60|Cache-Control: no-store",
        "200|Cache-Control: NO-STORE, max-age=60",
        "200|Cache-Control: private, max-age=60",
        "200|Cache-Control: private, s-maxage=60",
        "200|Cache-Control: no-cache",
        "200|Cache-Control: max-age=0",
        "200|Cache-Control: s-maxage=0, max-age=60",
        "200|Cache-Control: max-age=60, x=\"never closed",
        "200|Pragma: no-cache",
        "200|Expires: 0",
        "200|Vary: *|Cache-Control: max-age=60",
        "200|Vary: Accept, *|Cache-Control: max-age=60",
        "200|Set-Cookie: a=b|Cache-Control: max-age=60",
        "200|Set-Cookie: a=b|Cache-Control: public, s-maxage=60",
        "200",
    ] {
        site.never_keeps("/a", answer);
    }
}

/// 3: "the response status code is final", "understood"; 4.2.2: some statuses need explicit freshness.
#[test]
fn storing_depends_on_the_status() {
    let site = serve("");
    for status in [200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 451, 501] {
        let answer = format!("{status}|Cache-Control: max-age=60");
        let before = site.runs();
        site.ask(&format!("/{status}"), &answer).is(status);
        site.ask(&format!("/{status}"), &answer).is(status);
        assert_eq!(site.runs() - before, 1, "{status}");
    }
    for status in [206, 401, 407, 412, 416] {
        let answer = format!("{status}|Cache-Control: public, max-age=60|Content-Range: bytes 0-4/10");
        site.ask(&format!("/{status}"), &answer);
        let before = site.runs();
        site.ask(&format!("/{status}"), &answer);
        assert_eq!(site.runs() - before, 1, "{status}");
    }
    let modified = format!("|Last-Modified: {}", date(-100_000));
    for (status, kept) in [(200, true), (301, true), (404, true), (302, false), (403, false), (500, false)] {
        let before = site.runs();
        site.ask(&format!("/{status}/{kept}"), &format!("{status}{modified}"));
        site.ask(&format!("/{status}/{kept}"), &format!("{status}{modified}"));
        assert_eq!(site.runs() - before == 1, kept, "{status}");
    }
}

/// 3.5: a request with "Authorization".
#[test]
fn responses_to_authenticated_clients_are_reused_only_when_public() {
    let site = serve("");
    let ask = |target: &str, answer: &str| {
        let user = Request::get(target).header("Authorization", "Basic dTpw");
        site.send(user.clone(), answer);
        let before = site.runs();
        site.send(user, answer);
        let (again, before) = (site.runs() - before, site.runs());
        site.ask(target, answer);
        (again == 0, site.runs() == before)
    };
    for answer in ["max-age=60", "max-age=60, proxy-revalidate"] {
        assert_eq!(
            ask(&format!("/{}", answer.replace(", ", "-")), &format!("200|Cache-Control: {answer}")),
            (false, false),
            "{answer}"
        );
    }
    for answer in ["max-age=60, public", "s-maxage=60", "max-age=60, must-revalidate"] {
        assert_eq!(
            ask(&format!("/{}", answer.replace(", ", "-")), &format!("200|Cache-Control: {answer}")),
            (true, true),
            "{answer}"
        );
    }
}

/// A response to an anonymous request is not reused for a request with `Authorization` unless it is public.
#[test]
fn a_response_without_credentials_is_not_reused_for_users() {
    let site = serve("");
    assert!(site.keeps("/a", "200|Cache-Control: max-age=60"));
    let user = Request::get("/a").header("Authorization", "Bearer x");
    assert_eq!(site.send(user, "200|Cache-Control: private").text(), "run 2");
    assert_eq!(site.ask("/a", "200").text(), "run 1", "the strangers' page stays");
}

/// 5.2.2.4, 5.2.2.7: `private` and `no-cache` with field names; mod_cache's CacheIgnoreHeaders.
#[test]
fn headers_for_one_client_are_not_stored() {
    let site = serve("");
    for name in ["private", "no-cache"] {
        let answer =
            format!("200|Cache-Control: max-age=60, {name}=\"Set-Cookie, X-Own\"|Set-Cookie: a=b|X-Own: 1|X-Other: 2");
        let first = site.ask(&format!("/{name}"), &answer);
        let second = site.ask(&format!("/{name}"), &answer);
        assert_eq!((first.header("set-cookie").as_deref(), first.header("x-own").as_deref()), (Some("a=b"), Some("1")));
        assert_eq!((second.header("set-cookie"), second.header("x-own")), (None, None));
        assert_eq!((second.text(), second.header("x-other").as_deref()), (first.text(), Some("2")));
    }
    let site = serve("CacheIgnoreHeaders Set-Cookie X-Own");
    let answer = "200|Cache-Control: max-age=60|Set-Cookie: a=b|X-Own: 1";
    assert_eq!(site.ask("/a", answer).header("set-cookie").as_deref(), Some("a=b"));
    let second = site.ask("/a", answer);
    assert_eq!((second.text().as_str(), second.header("set-cookie"), second.header("x-own")), ("run 1", None, None));
}

#[test]
fn headers_from_the_configuration_count_for_storing() {
    let site = serve(
        "<Location /private>\nHeader set Cache-Control private\n</Location>\n<Location /set>\nHeader set Cache-Control max-age=60\n</Location>\n\
        <Location /expires>\nExpiresActive On\nExpiresDefault A60\n</Location>\n<Location /cookie>\nHeader add Set-Cookie a=b\n</Location>",
    );
    site.never_keeps("/private", "200|Cache-Control: max-age=60");
    site.never_keeps("/cookie", "200|Cache-Control: max-age=60");
    assert!(site.keeps("/set", "200") && site.keeps("/expires", "200"));
    let twice = site.ask("/expires", "200");
    assert_eq!(twice.header("cache-control").as_deref(), Some("max-age=60"), "nothing is added twice");
}

/// Headers that the configuration adds per client are not stored.
#[test]
fn headers_of_the_configuration_are_made_for_each_client() {
    let site = serve("SetEnvIf X-Name (.*) name=$1\nHeader set X-Hello %{name}e\nCacheIgnoreHeaders None");
    let ask = |name: &str| site.send(Request::get("/a").header("X-Name", name), "200|Cache-Control: max-age=60");
    assert_eq!(ask("anna").header("x-hello").as_deref(), Some("anna"));
    assert_eq!(ask("berta").header("x-hello").as_deref(), Some("berta"));
}

#[test]
fn the_variable_no_cache_prevents_storing() {
    let site = serve("SetEnvIf X-Do env no-cache");
    site.send(Request::get("/a").header("X-Do", "env"), "200|Cache-Control: max-age=60");
    assert_eq!(site.ask("/a", "200|Cache-Control: max-age=60").text(), "run 2");
}

#[test]
fn an_incomplete_response_is_never_stored() {
    let site = serve("");
    let mut connection = site.0.connect();
    connection
        .raw("GET /cut HTTP/1.1\r\nHost: localhost\r\nX-Do: cut\r\nX-Answer: 200|Cache-Control: max-age=60\r\n\r\n");
    connection.head();
    site.0.site.write("go", "");
    let rest = String::from_utf8_lossy(&connection.rest()).into_owned();
    assert!(!rest.contains("\r\n0\r\n"), "{rest}");
    until("the program runs again", || site.ask("/cut", "200|Cache-Control: max-age=60").text().starts_with("run 2"));
    let died = Request::get("/died").header("X-Do", "die");
    assert_eq!(site.send(died, "200|Cache-Control: max-age=60").status, 502);
    assert_eq!(site.ask("/died", "200|Cache-Control: max-age=60").is(200).text(), "run 4");
}

#[test]
fn a_body_of_the_wrong_length_is_never_stored() {
    let site = serve("");
    for length in [3, 300] {
        let target = format!("/{length}");
        let mut connection = site.0.connect();
        let answer = format!("200|Cache-Control: max-age=60|Content-Length: {length}");
        connection.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nX-Answer: {answer}\r\n\r\n"));
        connection.head();
        connection.rest();
        let before = site.runs();
        site.ask(&target, "200|Cache-Control: max-age=60");
        assert_eq!(site.runs(), before + 1, "{length}");
    }
}

#[test]
fn a_stream_is_stored_when_it_is_complete() {
    let site = serve("");
    let stream = |target: &str, what: &str| {
        site.send(Request::get(target).header("X-Do", what), "200|Cache-Control: max-age=60")
    };
    let first = stream("/a", "stream").is(200);
    assert_eq!(first.body.len(), "run 1\n".len() + 4 * 65536);
    until("the response is stored", || {
        let second = stream("/a", "stream");
        second.header("x-cache").is_some_and(|value| value.starts_with("HIT")) && second.body == first.body
            || site.runs() > 5
    });
    assert_eq!(site.runs(), 1);
    // A response larger than CacheSocacheMaxSize reaches the client whole, and is not stored.
    let long = stream("/long", "long").is(200);
    assert_eq!(long.body.len(), "run 2\n".len() + 40 * 65536);
    assert!(stream("/long", "long").text().starts_with("run 3"));
}

#[test]
fn a_response_is_stored_although_its_client_has_disconnected() {
    let site = serve("");
    let mut client = TcpStream::connect(("127.0.0.1", site.0.site.port)).expect("it listens");
    let answer = "X-Do: wait-stream\r\nX-Answer: 200|Cache-Control: max-age=60";
    write!(client, "GET /a HTTP/1.1\r\nHost: localhost\r\n{answer}\r\n\r\n").expect("it reads");
    client.read_exact(&mut [0; 20]).expect("the head of an answer");
    // SO_LINGER 0 makes the close a reset instead of an orderly end.
    let at_once = nix::libc::linger { l_onoff: 1, l_linger: 0 };
    setsockopt(&client, Linger, &at_once).expect("our own socket");
    drop(client);
    site.0.site.write("go", "");
    let kept = || site.send(Request::get("/a").header("Cache-Control", "only-if-cached"), "200");
    until("the response is stored", || kept().status == 200);
    assert_eq!(site.runs(), 1);
}

#[test]
fn responses_to_head_and_other_methods_are_not_stored() {
    let site = serve("");
    let answer = "200|Cache-Control: max-age=60";
    let runs = |request: Request| {
        let before = site.runs();
        site.send(request.clone(), answer);
        site.send(request, answer);
        site.runs() - before
    };
    assert_eq!(runs(Request::new("HEAD", "/head")), 2);
    assert_eq!(runs(Request::new("OPTIONS", "/options")), 2);
    assert_eq!(runs(Request::post("/post", "a=b")), 2);
    assert_eq!(runs(Request::get("/body").body("a=b")), 2);
    assert_eq!(runs(Request::get("/get")), 1);
    let before = site.runs();
    let head = site.0.connect().ask(Request::new("HEAD", "/get").header("X-Answer", answer)).is(200);
    assert_eq!((site.runs(), head.header("content-length").as_deref(), head.body.len()), (before, Some("5"), 0));
}

/// A response that the program has encoded is reused only for clients that accept its coding.
#[test]
fn an_encoded_response_is_stored_for_clients_that_accept_its_encoding() {
    let site = serve("");
    let ask = |coding: &str| {
        site.send(
            Request::get("/a").header("Accept-Encoding", coding),
            "200|Cache-Control: max-age=60|Content-Encoding: br",
        )
    };
    ask("br");
    ask("br");
    assert_eq!(site.runs(), 1);
    ask("gzip");
    assert_eq!(site.runs(), 2);
}

#[test]
fn a_stored_response_is_compressed_for_clients_that_accept_it() {
    let site = serve("SetOutputFilter DEFLATE;ZSTD");
    let ask = |coding: &str| {
        site.send(
            Request::get("/a").header("Accept-Encoding", coding).header("X-Do", "stream"),
            "200|Cache-Control: max-age=60",
        )
    };
    let plain = ask("identity").is(200);
    until("the response is stored", || ask("identity").header("x-cache").is_some_and(|value| value.starts_with("HIT")));
    for coding in ["gzip", "zstd"] {
        let packed = ask(coding).is(200);
        assert_eq!(ask(coding).body, packed.body);
        assert_eq!(ask("identity").body, plain.body, "the plain one is still there");
        assert_eq!((packed.header("content-encoding").as_deref(), site.runs()), (Some(coding), 1));
        assert!(
            packed.body.len() < plain.body.len() / 10
                && packed.header("x-cache").is_some_and(|value| value.starts_with("HIT"))
        );
    }
}

/// A handler that checks, before or in the middle of its response, whether its client has disconnected, and prints the
/// result.
fn site_that_looks_for_its_client() -> Server {
    Site::new()
        .file(
            "lib/Half.pm",
            "package Half;\nuse Apache::Constants qw(:common);\n\
             sub is_left { my $r = shift; for (1 .. $_[0]) { return 1 if $r->connection->aborted; select undef, undef, undef, 0.01 } 0 }\n\
             sub handler { my $r = shift; my $dir = $r->dir_config('Dir'); my $args = $r->args || ''; open my $begun, '>', \"$dir/begun\";\n\
             my $left = $args eq 'before' && is_left($r, 2000);\n\
             $r->header_out('Cache-Control' => 'max-age=60'); $r->send_http_header('text/plain'); $r->print('half '); $r->rflush;\n\
             $left ||= $args eq 'amid' && is_left($r, 30);\n\
             $r->print('whole') unless $left;\n\
             if ($args) { open my $f, '>', \"$dir/ended\" or die; print $f $left ? 'left' : 'here'; close $f; rename \"$dir/ended\", \"$dir/$args\" }\n\
             OK }\n1;\n",
        )
        .serve(
            "PerlLib lib\nPerlModule Half\nPerlSetVar Dir @DIR@\nCacheEnable memory /\nCacheIgnoreQueryString On\n\
             <Location />\nSetHandler perl-script\nPerlHandler Half\n</Location>",
        )
}

/// A response that the program cut short for a lost client looks complete, so it must not be stored.
#[test]
fn an_unfinished_response_of_a_client_that_left_is_never_stored() {
    let server = site_that_looks_for_its_client();
    let mut connection = server.connect();
    connection.raw("GET /a?before HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the program has begun", || server.site.has("begun"));
    drop(connection);
    until("the program has ended", || server.site.has("before"));
    assert_eq!(server.site.read("before"), "left");
    server.until_idle(2);
    assert_eq!(server.text("/a"), "half whole");
    assert_eq!(server.text("/a"), "half whole");
}

/// The cache, and perhaps other clients, still need the response.
#[test]
fn a_program_is_not_notified_of_a_disconnect_while_its_response_is_stored() {
    let server = site_that_looks_for_its_client();
    let mut connection = server.connect();
    connection.raw("GET /a?amid HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    connection.finish_sending();
    until("the program has ended", || server.site.has("amid"));
    assert_eq!(server.site.read("amid"), "here");
    let kept = || server.send(Request::get("/a").header("Cache-Control", "only-if-cached"));
    until("its answer is kept", || kept().status == 200);
    assert_eq!(kept().text(), "half whole");
}
