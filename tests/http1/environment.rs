//! The parts of a request that a program sees, and the parts that it never sees.

use crate::support::{Request, Server, Site};

/// A script and an application that print their environment, and a handler that prints its path.
fn serve(conf: &str) -> Server {
    serve_with(|site| site, conf)
}

/// Like [`serve`], with more files.
fn serve_with(more: impl FnOnce(Site) -> Site, conf: &str) -> Server {
    more(Site::new())
        .file("app.psgi", r#"sub { my $e = shift; [200, [], [map "$_=$e->{$_}\n", grep !ref $e->{$_}, sort keys %$e]] }"#)
        .file("lib/Tell.pm", "package Tell; sub handler { my $r = shift; $r->send_http_header('text/plain'); \
             $r->print(join '|', $r->uri, $r->args // '', $r->the_request, $r->header_in('Host')); 0 } 1;")
        .script("scripts/env.pl", "print qq(Content-Type: text/plain\\n\\n), map qq($_=$ENV{$_}\\n), sort keys %ENV;")
        .serve(&format!(
            "PerlLib lib\nPerlModule Tell Apache::Registry\n<Location /app>\nPsgiApp app.psgi\n</Location>\n\
             <Location /tell>\nSetHandler perl-script\nPerlHandler Tell\n</Location>\nAlias /scripts/ @DIR@/scripts/\n\
             <Location /scripts>\nSetHandler perl-script\nPerlHandler Apache::Registry\nOptions +ExecCGI\n</Location>\n{conf}"
        ))
}

/// Targets of the programs that print their environment.
const PROGRAMS: [&str; 2] = ["/app", "/scripts/env.pl"];

#[test]
fn headers_that_would_be_obeyed_or_taken_for_others_are_not_in_the_environment() {
    let server = serve("");
    for target in PROGRAMS {
        let request = Request::get(target)
            .header("Proxy", "http://evil.example/")
            .header("X-Real", "true")
            .header("X_Real", "forged")
            .header("Content_Length", "7")
            .header("Remote_User", "root");
        let env = server.send(request).is(200).text();
        assert!(env.contains("HTTP_X_REAL=true\n"), "{target}: {env}");
        for absent in ["HTTP_PROXY", "forged", "CONTENT_LENGTH", "REMOTE_USER"] {
            assert!(!env.contains(absent), "{target}: {absent}: {env}");
        }
    }
}

/// Passes the request on in each possible way, after it has set the header `Proxy`.
const ON: &str = r#"package On; use Apache::Constants qw(OK); sub handler {
    my $r = shift; my $way = $r->path_info;
    $r->headers_in->{Proxy} = 'http://evil.example/';
    return OK if $way eq '/redirect' and $r->internal_redirect('/scripts/env.pl'), 1;
    return 404 if $way eq '/document';
    $r->send_http_header('text/plain');
    $r->lookup_uri('/scripts/env.pl')->run if $way eq '/sub';
    $r->print(map { my $name = $_; map "$name=$_\n", $r->subprocess_env($name) // () } qw(HTTP_PROXY HTTP_X_REAL)) if $way eq '/table';
    $r->print(qx(env)) if $way eq '/program';
    OK } 1;"#;

#[test]
fn a_clients_proxy_header_never_becomes_http_proxy() {
    let conf = "PerlModule On\n<Location /on>\nSetHandler perl-script\nPerlHandler On\nPerlSetupEnv On\nErrorDocument 404 /scripts/env.pl\n</Location>\n\
         <Location /cgi>\nSetHandler cgi-script\nOptions +ExecCGI\n</Location>\nAlias /cgi/ @DIR@/cgi/\nRequestHeader append Proxy more\n\
         SetEnvIf Proxy (.+) seen=yes\n";
    let server = serve_with(
        |site| {
            site.file("lib/On.pm", ON)
                .script("cgi/env.pl", "#!/usr/bin/perl\nprint qq(Content-Type: text/plain\\n\\n), qx(env);")
        },
        conf,
    );
    let ways = [
        "/app",
        "/scripts/env.pl",
        "/cgi/env.pl",
        "/on/redirect",
        "/on/document",
        "/on/sub",
        "/on/table",
        "/on/program",
    ];
    for target in ways {
        let request = ["Proxy", "PROXY", "proxy"]
            .iter()
            .fold(Request::get(target), |request, name| request.header(name, "http://evil.example/"));
        let value = server.send(request.header("X-Real", "true")).text();
        assert!(value.contains("HTTP_X_REAL=true\n"), "{target}: {value}");
        assert!(!value.contains("HTTP_PROXY") && !value.contains("evil"), "{target}: {value}");
    }
}

#[test]
fn variables_of_a_proxy_cannot_be_set_by_a_client() {
    let server = serve("SetEnv HTTP_PROXY http://proxy.internal:3128/\n");
    for target in PROGRAMS {
        let value = server.send(Request::get(target).header("Proxy", "http://evil.example/")).text();
        assert!(
            value.contains("HTTP_PROXY=http://proxy.internal:3128/\n") && !value.contains("evil"),
            "{target}: {value}"
        );
    }
    for line in
        ["SetEnvIf X-A (.+) HTTP_PROXY=$1", "SetEnvIfNoCase X-A . http_proxy=$0", "BrowserMatch (.+) a HTTP_PROXY=$1"]
    {
        let site = Site::new();
        site.configure(&format!("{line}\n"));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, "must not depend on the request");
    }
}

#[test]
fn headers_whose_names_are_no_names_of_variables_are_not_in_the_environment() {
    let tell =
        "sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print($r->header_in('X.Mark')); 0 }";
    let server = serve("<Perl>\npackage Mark;\n@TELL@\n</Perl>\n<Location /mark>\nSetHandler perl-script\nPerlHandler Mark\n</Location>".replace("@TELL@", tell).as_str());
    let marked = |target: &str| {
        let names = ["X.Mark", "X!Mark", "X'Mark", "X*Mark", "X-Mark$", "X#Mark", "X|Mark", "X~Mark", "X_Mark"];
        names.iter().fold(Request::get(target).header("X-9", "kept"), |request, name| request.header(name, "odd"))
    };
    for target in PROGRAMS {
        let env = server.send(marked(target)).is(200).text();
        assert!(env.contains("HTTP_X_9=kept\n") && !env.contains("odd"), "{target}: {env}");
    }
    assert_eq!(server.send(marked("/mark")).is(200).text(), "odd", "a header it is");
}

#[test]
fn headers_between_servers_are_not_taken_from_clients() {
    let server = serve("<Location /app>\nRequestHeader set X-Sendfile-Type X-Accel-Redirect\n</Location>");
    for (target, expected) in PROGRAMS.iter().zip([true, false]) {
        let request = Request::get(target)
            .header("X-Sendfile-Type", "X-Sendfile")
            .header("X-Sendfile", "/etc/passwd")
            .header("X-Accel-Mapping", "/=/secret/")
            .header("X-Accel-Redirect", "/secret")
            .header("X-Reproxy-URL", "http://evil.example/")
            .header("X-Accelerated", "kept");
        let env = server.send(request).is(200).text();
        assert!(env.contains("HTTP_X_ACCELERATED=kept\n"), "{env}");
        for absent in ["HTTP_X_SENDFILE=", "HTTP_X_ACCEL_", "HTTP_X_REPROXY_URL", "TYPE=X-Sendfile\n"] {
            assert!(!env.contains(absent), "{target}: {absent}: {env}");
        }
        let from_the_configuration = env.contains("HTTP_X_SENDFILE_TYPE=X-Accel-Redirect\n");
        assert_eq!(from_the_configuration, expected, "{target}: {env}");
    }
}

#[test]
fn content_length_is_a_number_or_not_there() {
    let server = serve("");
    for target in PROGRAMS {
        let lengths = |head: &str, body: &str| {
            let mut connection = server.connect();
            connection.raw(format!("POST {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{head}\r\n{body}"));
            let env = connection.response().is(200).text();
            env.lines().filter(|line| line.contains("CONTENT_LENGTH")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lengths("", ""), Vec::<String>::new(), "{target}");
        assert_eq!(lengths("Content-Length: 0\r\n", ""), ["CONTENT_LENGTH=0"], "{target}");
        assert_eq!(lengths("Content-Length: 0003\r\n", "abc"), ["CONTENT_LENGTH=3"], "{target}");
        assert_eq!(
            lengths("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n"),
            ["CONTENT_LENGTH=3"],
            "{target}"
        );
    }
}

#[test]
fn the_host_of_a_full_address_counts_more_than_the_header() {
    let server = serve("");
    for target in PROGRAMS {
        let env = server.send(Request::get(&format!("http://Other.example:81{target}"))).is(200).text();
        assert!(env.contains("HTTP_HOST=Other.example:81\n"), "{target}: {env}");
        assert!(env.contains("SERVER_NAME=other.example\n"), "{target}: {env}");
        assert!(!env.contains("=localhost\n"), "{target}: {env}");
    }
}

#[test]
fn trailers_are_not_in_the_environment() {
    let server = serve("");
    for target in PROGRAMS {
        let mut connection = server.connect();
        connection.raw(format!(
            "POST {target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTrailer: X-Late\r\n\r\n0\r\nX-Late: forged\r\nHost: b\r\n\r\n"
        ));
        let env = connection.response().is(200).text();
        assert!(!env.contains("forged") && env.contains("HTTP_HOST=a\n"), "{target}: {env}");
    }
}

#[test]
fn a_handler_gets_the_path_that_access_was_decided_by() {
    let server = serve("<Location /tell/secret>\nOrder Allow,Deny\n</Location>");
    for (target, uri) in [
        ("/tell/a%20b", "/tell/a b"),
        ("/tell//x/../%79", "/tell/y"),
        ("//tell/./z?q=/../", "/tell/z"),
        ("/tell/%2573ecret", "/tell/%73ecret"),
    ] {
        let body = server.text(target);
        assert!(body.starts_with(&format!("{uri}|")), "{target}: {body}");
    }
    for target in ["/tell/secret", "/tell//%73ecret/x", "/tell/x/%2e%2E/secret", "http://localhost/tell/secret"] {
        server.get(target).is(403);
    }
}
