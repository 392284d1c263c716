//! `%2F` in a path: mod/core.html#allowencodedslashes.

use crate::support::{Request, Server, Site};

const CONF: &str = "<Perl>
use Apache::Constants ();
sub My::uri { my $r = shift; $r->send_http_header('text/plain');
    $r->print(join ' ', $r->uri, $r->path_info, $r->args ? $r->lookup_uri(scalar $r->args)->uri : ()); 0 }
</Perl>
<Location /perl>
SetHandler perl-script
PerlHandler My::uri
</Location>
<Location /perl/shut>
Deny from all
</Location>
ScriptAlias /cgi/ \"@DIR@/cgi/\"
Action about /cgi/go.pl virtual
<Location /about>
SetHandler about
</Location>
";

fn site(lines: &str) -> Server {
    Site::new()
        .script(
            "cgi/go.pl",
            "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{SCRIPT_NAME} $ENV{PATH_INFO}\"",
        )
        .file("htdocs/shut/a.txt", "a")
        .serve(&format!("{CONF}<Location /shut>\nDeny from all\n</Location>\n{lines}"))
}

#[test]
fn an_encoded_slash_is_a_404_unless_allowed() {
    for lines in ["", "AllowEncodedSlashes Off\n"] {
        let server = site(lines);
        server.get("/perl/a%2Fb").is(404);
        server.get("/cgi/go.pl/a%2fb").is(404);
    }
}

/// Like every PSGI server, this server decodes `%2F`, unless the configuration disables that.
#[test]
fn psgi_path_info_has_decoded_slashes() {
    let site = || {
        Site::new().file(
            "app.psgi",
            "sub { my $e = shift; [200, ['Content-Type', 'text/plain'], [\"$e->{PATH_INFO} $e->{REQUEST_URI}\"]] }",
        )
    };
    let conf =
        "<Location /app>\nPsgiApp app.psgi\n</Location>\n<Location /app/shut>\nRequire all denied\n</Location>\n";
    let server = site().file("htdocs/a/b.txt", "b").serve(conf);
    assert_eq!(server.text("/app/item/a%2Fb%2fc"), "/item/a/b/c /app/item/a%2Fb%2fc");
    assert_eq!(server.text("/app%2Fx"), "/x /app%2Fx");
    for path in ["/app/shut%2Fx", "/app%2Fshut", "/app/x%2F..%2fshut"] {
        server.get(path).is(403);
    }
    for path in ["/a%2Fb.txt", "/app%2F..%2Fa/b.txt", "/..%2fapp"] {
        server.get(path).is(404);
    }
    let server = site().serve(&format!("AllowEncodedSlashes Off\n{conf}"));
    server.get("/app/item/a%2Fb").is(404);
    let server = site().serve(&format!("AllowEncodedSlashes NoDecode\n{conf}"));
    assert_eq!(server.text("/app/item/a%2Fb"), "/item/a%2Fb /app/item/a%2Fb");
    let server = site().run(["app.psgi"]);
    assert_eq!(server.text("/item/a%2Fb"), "/item/a/b /item/a%2Fb");
}

#[test]
fn encoded_slashes_are_slashes_and_bypass_no_rule() {
    let server = site("AllowEncodedSlashes On\n");
    assert_eq!(server.text("/cgi/go.pl/a%2Fb%2fc"), "/cgi/go.pl /a/b/c");
    assert_eq!(server.text("/perl/a%2Fb?/x%2Fy"), "/perl/a/b /a/b /x/y");
    for path in ["/perl%2Fshut", "/perl%2fshut/x", "/perl/x%2f..%2Fshut", "/%2fshut%2Fa.txt", "/x/..%2fshut/a.txt"] {
        server.get(path).is(403);
    }
    server.get("/..%2f..%2fetc/passwd").is(400);
}

#[test]
fn encoded_slashes_stay_encoded_for_programs_that_want_them() {
    let server = site("AllowEncodedSlashes NoDecode\n");
    assert_eq!(server.text("/cgi/go.pl/a%2Fb%2fc%20d"), "/cgi/go.pl /a%2Fb%2fc d");
    assert_eq!(server.text("/about/a.txt%2Fx"), "/cgi/go.pl /about/a.txt%2Fx");
    assert!(server.text("/perl/a%2Fb?/x%2Fy").starts_with("/perl/a%2Fb "));
    server.get("/perl/x%2f..%2Fshut").is(200);
    server.get("/shut%2Fa.txt").is(404);
}

#[test]
fn allow_encoded_slashes_is_a_setting_of_each_host() {
    let server = site(
        "AllowEncodedSlashes On\n<VirtualHost *>\nServerName one\n</VirtualHost>\n\
         <VirtualHost *>\nServerName two\nAllowEncodedSlashes Off\n</VirtualHost>",
    );
    for (host, status) in [("one", 200), ("two", 404)] {
        server.send(Request::get("/perl/a%2Fb").header("Host", host)).is(status);
    }
}

#[test]
fn an_unknown_value_of_allow_encoded_slashes_is_an_error() {
    let site = Site::new();
    site.configure("AllowEncodedSlashes Maybe\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "expected On, Off or NoDecode, got \"Maybe\"");
}
