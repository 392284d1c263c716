//! `Header always` for stored responses: the table of each field is stored, too.

use crate::support::{Request, Response, Server, Site};

/// A page of one minute, and one that the 304 of its revalidation makes private. The process id tells runs apart.
fn serve(conf: &str) -> Server {
    let renewed = "if [ \"$HTTP_IF_NONE_MATCH\" ]; then\n\
        printf 'Status: 304\\nCache-Control: private, no-store\\nSet-Cookie: id=own\\nETag: \"r\"\\n\\n'; else\n\
        printf 'Content-Type: text/plain\\nCache-Control: max-age=60\\nETag: \"r\"\\n\\n'; echo $$; fi\n";
    let page = |fields: &str| {
        let fixed = "Content-Type: text/plain\\nCache-Control: max-age=60\\nETag: \"t\"\\n";
        format!("#!/bin/sh\nprintf '{fixed}{fields}\\n'; echo $$\n")
    };
    Site::new()
        .script("cgi-bin/page", &page("X-Secret: s3\\nX-Frame-Options: SAMEORIGIN\\n"))
        .script("cgi-bin/cookie", &page("Set-Cookie: id=first\\n"))
        .script("cgi-bin/renewed", &format!("#!/bin/sh\n{renewed}"))
        .file("app.psgi", "sub { [200, ['X-Secret' => 's3', 'Cache-Control' => 'max-age=60', ETag => '\"t\"'], [$$]] }")
        .serve(&format!(
            "ScriptAlias /cgi-bin/ @DIR@/cgi-bin/\n<Location /app>\nPsgiApp app.psgi\n</Location>\n\
             CacheEnable memory /\nCacheHeader On\n{conf}"
        ))
}

#[track_caller]
fn seen(response: &Response, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| response.header(name).unwrap_or_default()).collect()
}

fn conditional(path: &str) -> Request {
    Request::get(path).header("If-None-Match", "\"t\"")
}

#[test]
fn header_always_changes_stored_fields_of_scripts() {
    let server = serve("Header always unset X-Secret\nHeader always set X-Frame-Options DENY");
    let ranged = Request::get("/cgi-bin/page").header("Range", "bytes=0-0");
    for (request, status, event) in [
        (Request::get("/cgi-bin/page"), 200, "MISS"),
        (Request::get("/cgi-bin/page"), 200, "HIT"),
        (conditional("/cgi-bin/page"), 304, "HIT"),
        (ranged, 206, "HIT"),
        (Request::get("/app"), 200, "MISS"),
        (Request::get("/app"), 200, "HIT"),
        (conditional("/app"), 304, "HIT"),
    ] {
        let response = server.send(request).is(status);
        let expected = [&format!("{event} from localhost"), "", "DENY", "max-age=60"];
        assert_eq!(seen(&response, &["x-cache", "x-secret", "x-frame-options", "cache-control"]), expected);
    }
}

#[test]
fn header_adds_to_stored_fields_of_scripts() {
    let server = serve("Header set X-Frame-Options DENY");
    for event in ["MISS from localhost", "HIT from localhost"] {
        let response = server.get("/cgi-bin/page").is(200);
        assert_eq!(seen(&response, &["x-cache", "x-frame-options"]), [event, "SAMEORIGIN, DENY"]);
    }
}

/// The script's `no-store` is in the second table, where `Header set` does not replace it.
#[test]
fn a_rule_does_not_keep_what_a_304_makes_private() {
    let server = serve("Header set Cache-Control max-age=600\nHeader always edit Set-Cookie $ \"; Secure\"");
    let first = server.text("/cgi-bin/renewed");
    assert_eq!(server.text("/cgi-bin/renewed"), first);
    let own = server.send(Request::get("/cgi-bin/renewed").header("Cache-Control", "no-cache")).is(200);
    assert_eq!(own.text(), first);
    let expected = ["REVALIDATE from localhost", "private, no-store, max-age=600", "id=own; Secure"];
    assert_eq!(seen(&own, &["x-cache", "cache-control", "set-cookie"]), expected);
    let next = server.get("/cgi-bin/renewed").is(200);
    assert_ne!(next.text(), first, "the first client's page is private now");
    assert_eq!(seen(&next, &["x-cache", "set-cookie"]), ["MISS from localhost", ""]);
}

#[test]
fn a_cookie_that_a_rule_hides_from_one_client_is_not_stored_for_others() {
    let server = serve("Header always unset Set-Cookie \"expr=req_novary('X-Bot') == '1'\"");
    let first = server.send(Request::get("/cgi-bin/cookie").header("X-Bot", "1")).is(200);
    assert_eq!(seen(&first, &["x-cache", "set-cookie"]), ["MISS from localhost", ""]);
    let second = server.get("/cgi-bin/cookie").is(200);
    assert_eq!((second.text(), seen(&second, &["set-cookie"])), (first.text(), vec![String::new()]));
}

#[test]
fn a_cookie_of_a_rewrite_rule_reaches_its_client_and_no_other() {
    let rule = "RewriteEngine On\nRewriteCond %{HTTP:X-Name} (.+) [NV]\nRewriteRule ^ - [CO=name:%1:localhost]\n";
    let plain = || Request::get("/cgi-bin/page");
    let named = |name| plain().header("X-Name", name);
    for (conf, events) in
        [("", ["MISS", "MISS", "HIT", "HIT"]), ("CacheIgnoreHeaders Set-Cookie", ["MISS", "HIT", "HIT", "HIT"])]
    {
        let server = serve(&format!("{rule}{conf}"));
        let requests = [(named("ann"), "name=ann"), (plain(), ""), (named("ben"), "name=ben"), (plain(), "")];
        for ((request, cookie), event) in requests.into_iter().zip(events) {
            let response = server.send(request).is(200);
            let [seen, of_client] = ["x-cache", "set-cookie"].map(|name| response.header(name).unwrap_or_default());
            let of_client = of_client.split(';').next().unwrap_or_default();
            assert_eq!((seen.as_str(), of_client), (&*format!("{event} from localhost"), cookie), "{conf}");
        }
    }
}

#[test]
fn the_vary_of_a_rewrite_rule_is_in_the_stored_response_and_in_the_first() {
    let server = serve("RewriteEngine On\nRewriteCond %{HTTP:X-Name} .\nRewriteRule ^ -");
    for event in ["MISS from localhost", "HIT from localhost"] {
        let response = server.send(Request::get("/cgi-bin/page").header("X-Name", "ann")).is(200);
        assert_eq!(seen(&response, &["x-cache", "vary"]), [event, "x-name"]);
    }
}
