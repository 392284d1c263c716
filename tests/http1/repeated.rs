//! A repeated header field is one value for all readers, as in httpd.

use crate::support::{Request, Response, Server, Site, until};

/// A handler that prints the values of a field: as a table, as a single entry, and from the environment.
const TELL: &str = "package Tell; sub handler { my $r = shift; $r->send_http_header('text/plain'); my $in = $r->headers_in; \
     my %in = $r->headers_in; my @all = $in->get('X-A'); $r->print(join '|', $in->{'X-A'}, $r->header_in('x-a'), scalar(@all), $in{'X-A'}, \
     $ENV{HTTP_X_A}, $in->{Cookie} // '', $r->header_in('Cookie') // '', $ENV{HTTP_COOKIE} // ''); 0 } 1;";

const CONF: &str = "PerlLib lib\nPerlModule Tell\n<Location /tell>\nSetHandler perl-script\nPerlHandler Tell\n</Location>\n\
     <Location /app>\nPsgiApp app.psgi\n</Location>\nCustomLog access.log \"%U %{X-A}i|%{Cookie}i\"\n\
     SetEnvIf X-A \"^1, 2$\" both\nSetEnvIf X-A \"^1$\" first\nSetEnvIf ^X-. \"^1, 2$\" pattern\nSetEnvIf Cookie \"a=1; b=2\" cookies\n\
     SetEnvIfExpr \"%{HTTP:X-A} == '1, 2'\" expr\nRewriteEngine On\nRewriteCond %{HTTP:X-A} \"^1, 2$\"\nRewriteRule ^/ - [E=rule:1]\n\
     RewriteCond %{HTTP:X-A} \"^1$\"\nRewriteRule ^/shut - [F]\n\
     Header set X-Seen \"%{both}e %{first}e %{pattern}e %{cookies}e %{expr}e %{rule}e\"\nHeader set X-Both yes \"expr=%{HTTP:X-A} == '1, 2'\"\n\
     <Location /only>\nRequire env both\n</Location>\n<Location /never>\n<RequireAll>\nRequire all granted\nRequire not env both\n\
     </RequireAll>\n</Location>\n<Location /expr>\nRequire expr \"%{HTTP:X-A} =~ /2/\"\n</Location>\n";

fn serve() -> Server {
    let page = |site: Site, name: &str| site.file(&format!("htdocs/{name}/a.txt"), name);
    let site = Site::new().file("lib/Tell.pm", TELL).file(
        "app.psgi",
        "sub { my $e = shift; [200, ['Content-Type', 'text/plain'], [join '|', map $_ // '', @$e{qw(HTTP_X_A HTTP_COOKIE)}]] }",
    );
    ["only", "never", "expr", "shut"].into_iter().fold(site, page).serve(CONF)
}

fn twice(server: &Server, target: &str) -> Response {
    let request = Request::get(target).header("X-A", "1").header("Cookie", "a=1").header("x-a", "2");
    server.send(request.header("cookie", "b=2"))
}

#[test]
fn programs_find_all_fields_of_a_name_as_one() {
    let server = serve();
    assert_eq!(twice(&server, "/tell").text(), "1, 2|1, 2|1|1, 2|1, 2|a=1, b=2|a=1, b=2|a=1; b=2");
    assert_eq!(twice(&server, "/app").text(), "1, 2|a=1; b=2");
}

#[test]
fn rules_and_logs_see_all_fields_of_a_name() {
    let server = serve();
    let answer = twice(&server, "/only/a.txt").is(200);
    assert_eq!(answer.header("X-Seen").as_deref(), Some("1 (null) 1 1 1 1"));
    assert_eq!(answer.header("X-Both").as_deref(), Some("yes"));
    twice(&server, "/never/a.txt").is(403);
    twice(&server, "/expr/a.txt").is(200);
    twice(&server, "/shut/a.txt").is(200);
    until("the log has it", || server.site.read("access.log").contains("/only/a.txt 1, 2|a=1; b=2\n"));
}

#[test]
fn the_first_of_two_passwords_counts_for_all_readers() {
    let check = "package Check; sub handler { my $r = shift; my ($status, $password) = $r->get_basic_auth_pw; return $status if $status; \
         return 0 if $r->connection->user eq 'ana' and $password eq 'a'; $r->note_basic_auth_failure; 401 } 1;";
    let by_rule = "AuthType Basic\nAuthName x\nRequire user ana";
    let server = Site::new()
        .file("lib/Check.pm", check)
        .file("users", "ana:{SHA}hvfkN/qlp/zhXR3cuerq6jd2Z7g=\neva:{SHA}hvfkN/qlp/zhXR3cuerq6jd2Z7g=\n")
        .file("htdocs/rule/a.txt", "a")
        .file("htdocs/perl/a.txt", "a")
        .serve(&format!(
            "PerlLib lib\nPerlModule Check\n<Location /rule>\n{by_rule}\nAuthUserFile users\n</Location>\n\
             <Location /perl>\n{by_rule}\nPerlAuthenHandler Check\n</Location>\n"
        ));
    let (ana, eva) = ("Basic YW5hOmE=", "Basic ZXZhOmE=");
    for target in ["/rule/a.txt", "/perl/a.txt"] {
        let ask = |first: &str, second: &str| {
            server.send(Request::get(target).header("Authorization", first).header("Authorization", second))
        };
        ask(ana, eva).is(200);
        assert_ne!(ask(eva, ana).status, 200, "{target}");
    }
}
