//! `FcgidAuthenticator`, `FcgidAuthorizer`, `FcgidAccessChecker`: FastCGI programs that decide about access.

use super::variable;
use crate::support::{Request, Server, Site};

/// A program that decides by the query and the password, and sets variables.
const GUARD: &str = r#"#!/usr/bin/perl
use FCGI; my %env; my $n = 0;
my $request = FCGI::Request(\*STDIN, \*STDOUT, \*STDERR, \%env);
while ($request->Accept >= 0) {
    my ($q, $role) = @env{qw(QUERY_STRING FCGI_APACHE_ROLE)}; $n++;
    exit 1 if $q eq 'die'; sleep 1000 if $q eq 'hang'; next if $q eq 'mute'; print 'no header' and next if $q eq 'bare';
    if ($q eq 'late' || $q eq 'linger') {
        print "Content-Type: text/plain\r\n\r\npart"; $request->Flush; kill 9, $$ if $q eq 'late'; sleep 1000;
    }
    my $ok = $role eq 'AUTHENTICATOR' ? $env{REMOTE_PASSWD} eq 'good' : $q ne "no$role";
    my $not = join '+', grep exists $env{$_}, qw(CONTENT_LENGTH SCRIPT_NAME);
    print "Content-Type: text/plain\r\n";
    if ($q eq 'away') { print "Location: http://x.example/\r\n\r\n" }
    elsif ($ok) {
        print "Variable-BY_$role: $env{FCGI_ROLE},$n,$not\r\nVariable-Mixed: $env{REMOTE_USER}\r\nX-Own: 1\r\n\r\n";
        print 'x' x 100_000;
    }
    else { print "Status: 403\r\n\r\nmy page" }
}
"#;

const SHOW: &str =
    "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\", map \"$_=$ENV{$_}\\n\", sort keys %ENV;\n";

pub(super) fn serve(conf: &str) -> Server {
    let site = Site::new()
        .script("guard.fcgi", GUARD)
        .script("htdocs/cgi/show.cgi", SHOW)
        .file("htdocs/a/index.html", "a page")
        .file("htdocs/b/page.html", "b page")
        .file("lib/My.pm", LEADS)
        .file("users", "filer:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n");
    site.serve(&format!(
        "PerlLib lib\nDirectoryIndex index.html\nAddHandler cgi-script .cgi\nFrontThreads 1\n<Directory htdocs>\nOptions +ExecCGI\n</Directory>\n{conf}"
    ))
}

/// Perl code that leads a request to the path or file in its query.
const LEADS: &str = r#"package My;
use Apache2::RequestRec; use Apache2::RequestIO; use Apache2::SubRequest; use Apache2::RequestUtil;
sub handler {
    my $r = shift; my ($how, $where) = split /:/, $r->args, 2; $r->content_type('text/plain');
    if ($how eq 'redirect') { $r->internal_redirect($where); return 0 }
    my $sub = $how eq 'file' ? $r->lookup_file($where) : $r->lookup_uri($where);
    $r->print('status ', $sub->status, "\n"); eval { $sub->run }; 0
}
sub trans { my $r = shift; my $uri = $r->uri; $r->uri($uri) if $uri =~ s{^/tr/}{/a/}; -1 }
1;
"#;

/// `ann:good`
pub(super) const GOOD: &str = "Basic YW5uOmdvb2Q=";
/// `ann:bad`
const BAD: &str = "Basic YW5uOmJhZA==";
/// `filer:secret`, as in the file of users.
const OF_FILE: &str = "Basic ZmlsZXI6c2VjcmV0";

pub(super) fn with(target: &str, credentials: &str) -> Request {
    Request::get(target).header("Authorization", credentials)
}

const BASIC: &str = "AuthType Basic\nAuthName mine\n";

#[test]
fn an_access_checker_admits_by_200_alone_and_sets_variables() {
    let server = serve("<Location />\nFcgidAccessChecker @DIR@/guard.fcgi\n</Location>");
    let shown = server.send(Request::post("/cgi/show.cgi?x", "a=b")).is(200);
    assert_eq!(variable(&shown.text(), "BY_ACCESS_CHECKER"), "AUTHORIZER,1,");
    assert_eq!(shown.header("x-own").or(shown.header("variable-mixed")), None);
    for (query, status) in [("noACCESS_CHECKER", 401), ("away", 401), ("die", 500), ("mute", 500), ("bare", 500)] {
        for path in ["/a/", "/a/index.html", "/cgi/show.cgi"] {
            let refused = server.get(&format!("{path}?{query}")).is(status).text();
            assert!(!refused.contains("a page") && !refused.contains("my page") && !refused.contains("BY_"), "{query}");
        }
    }
    server.logged("access denied by the FastCGI program");
    assert_eq!(server.text("/a/"), "a page");
}

#[test]
fn an_authenticator_checks_passwords_and_names_the_user() {
    let server = serve(&format!(
        "<Location />\n{BASIC}FcgidAuthenticator @DIR@/guard.fcgi\nFcgidAuthorizer @DIR@/guard.fcgi\nRequire valid-user\n</Location>"
    ));
    let asked = server.get("/cgi/show.cgi").is(401);
    assert_eq!(asked.header("www-authenticate").as_deref(), Some("Basic realm=\"mine\""));
    let shown = server.send(with("/cgi/show.cgi", GOOD)).is(200).text();
    assert_eq!((variable(&shown, "REMOTE_USER"), variable(&shown, "AUTH_TYPE")), ("ann", "Basic"));
    assert!(variable(&shown, "BY_AUTHENTICATOR").starts_with("AUTHORIZER,"), "{shown}");
    assert_eq!(variable(&shown, "Mixed"), "ann");
    server.send(with("/cgi/show.cgi", BAD)).is(401);
    server.send(with("/cgi/show.cgi?noAUTHORIZER", GOOD)).is(401);
}

#[test]
fn a_program_that_does_not_decide_alone_leaves_it_to_the_other_rules() {
    let server = serve(&format!(
        "<Location />\n{BASIC}AuthUserFile @DIR@/users\nFastCgiAuthenticator @DIR@/guard.fcgi\nFastCgiAuthenticatorAuthoritative Off\n\
         Require valid-user\n</Location>\n<Location /b>\nFcgidAccessChecker @DIR@/guard.fcgi\nFcgidAccessCheckerAuthoritative Off\n</Location>"
    ));
    for (credentials, status) in [(GOOD, 200), (OF_FILE, 200), (BAD, 401)] {
        server.send(with("/a/", credentials)).is(status);
    }
    server.send(with("/b/page.html?noACCESS_CHECKER", GOOD)).is(200);
    server.send(with("/b/page.html?die", GOOD)).is(500);
}

#[test]
fn a_program_that_hangs_or_is_missing_admits_nobody() {
    let server = serve(
        "FcgidBusyTimeout 1\n<Location /a>\nFcgidAccessChecker @DIR@/guard.fcgi\n</Location>\n\
         <Location /b>\nFcgidAuthorizer @DIR@/none.fcgi\n</Location>",
    );
    server.get("/a/?hang").is(504);
    server.get("/b/page.html").is(500);
    assert_eq!(server.text("/a/"), "a page");
}

#[test]
fn one_process_serves_many_requests_and_a_page_is_asked_about_once() {
    let server = serve("FcgidMaxProcessesPerClass 1\n<Location />\nFcgidAccessChecker @DIR@/guard.fcgi\n</Location>");
    for number in 1..=5 {
        let shown = server.text("/cgi/show.cgi");
        assert_eq!(variable(&shown, "BY_ACCESS_CHECKER"), format!("AUTHORIZER,{number},"));
    }
}

#[test]
fn a_place_with_perl_phases_is_closed() {
    let server = serve(
        "PerlGeneration 2\n<Location /a>\nPerlFixupHandler \"sub { -1 }\"\nFcgidAccessChecker @DIR@/guard.fcgi\n</Location>",
    );
    server.get("/a/").is(500);
    server.logged("cannot both decide about access");
}
