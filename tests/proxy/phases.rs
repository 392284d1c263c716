//! Perl handlers of phases before a backend answers: as under httpd with mod_perl and mod_proxy.

use super::{Backend, ok};
use crate::support::{Request, Server, Site};

/// Handlers of all kinds. `Gate` lets the clients in that send `X-Key: right`.
const HANDLERS: &str = "package Mine; use Apache::Constants qw(:common :response DONE);\n\
    sub gate { my $r = shift; ($r->header_in('X-Key') || '') eq 'right' ? OK : FORBIDDEN }\n\
    sub authen { my $r = shift; my ($rc, $password) = $r->get_basic_auth_pw; return $rc if $rc;\n\
      return OK if $password eq 'right'; $r->note_basic_auth_failure; AUTH_REQUIRED }\n\
    sub authz { my $r = shift; $r->connection->user eq 'ann' ? OK : FORBIDDEN }\n\
    sub fixup { my $r = shift; $r->header_in('X-Set', 'by ' . $r->filename); $r->headers_in->unset('X-Gone');\n\
      $r->header_in('Content-Length', 3); $r->header_in('Transfer-Encoding', 'chunked'); $r->header_out('X-Out', 'out');\n\
      $r->subprocess_env(MINE => 'mine'); $r->args('z=1') if ($r->args || '') eq 'a=1'; OK }\n\
    sub moves { my $r = shift; $r->uri('/elsewhere') if $r->uri =~ /moved/; DECLINED }\n\
    sub renames { $_[0]->filename('proxy:http://127.0.0.1:1/'); OK }\n\
    sub answers { my $r = shift; $r->send_http_header('text/plain'); $r->print('from a phase'); DONE }\n\
    sub prints { my $r = shift; $r->send_http_header('text/plain'); $r->print('too much'); OK }\n\
    sub page { my $r = shift; $r->handler('perl-script'); $r->set_handlers(PerlHandler => 'Mine::answers'); OK }\n\
    sub trusts { my $r = shift; return FORBIDDEN if $r->header_in('X-Remote-User'); $r->header_in('X-Remote-User', 'ann'); OK }\n\
    sub away { my $r = shift; $r->header_out(Location => 'http://login.example/'); REDIRECT }\n\
    sub dies { die 'broken' }\n\
    sub reads { my $r = shift; my $n = $r->read(my $body, 100) || 0; $r->header_in('X-Read', $n); OK }\n\
    sub cookie { my $r = shift; my %in = $r->headers_in; $r->header_in('X-Cookie', $in{Cookie}); OK }\n\
    sub output { $_[0]->print('filtered') } 1;";

fn serve(conf: &str) -> Server {
    Site::new().file("lib/Mine.pm", HANDLERS).serve(&format!("PerlLib lib\nPerlModule Mine\n{conf}"))
}

fn echo() -> Backend {
    Backend::new(|request| ok(&format!("{} {}", request.line(), String::from_utf8_lossy(&request.body))))
}

#[test]
fn an_access_handler_decides_before_the_backend_gets_anything() {
    let backend = echo();
    let server = serve(&format!(
        "<Location /gate/>\nProxyPass {url}\nPerlAccessHandler Mine::gate\n</Location>\n\
         RewriteEngine On\nRewriteRule ^/rule/(.*) {url}$1 [P]\n<Location /rule>\nPerlAccessHandler Mine::gate\n</Location>\n\
         <Location /dies>\nProxyPass {url}\nPerlAccessHandler Mine::dies\n</Location>\n\
         <Location /missing>\nProxyPass {url}\nPerlAccessHandler Missing::handler\n</Location>\n",
        url = backend.url("/"),
    ));
    for (target, status) in [("/gate/x", 403), ("/rule/x", 403), ("/dies/x", 500), ("/missing/x", 500)] {
        assert_eq!(server.get(target).status, status, "{target}");
        let post = Request::new("POST", target).body("a body");
        assert_eq!(server.send(post).status, status, "{target}");
    }
    assert!(backend.received().is_empty());
    for target in ["/gate/x", "/rule/x"] {
        let post = Request::new("POST", target).header("X-Key", "right").body("a body");
        assert!(server.send(post).is(200).text().ends_with("/x HTTP/1.1 a body"), "{target}");
    }
    let large = "x".repeat(300_000);
    let post = Request::new("POST", "/gate/large").header("X-Key", "right").body(&large);
    assert_eq!(server.send(post).is(200).text().len(), large.len() + "POST /large HTTP/1.1 ".len());
}

#[test]
fn a_backend_learns_the_user_that_perl_code_has_identified() {
    let backend = echo();
    let server = serve(&format!(
        "<Location /in>\nProxyPass {url}\nAuthType Basic\nAuthName inside\nPerlAuthenHandler Mine::authen\n\
         PerlAuthzHandler Mine::authz\nRequire valid-user\nRequestHeader set X-User expr=%{{REMOTE_USER}}\n</Location>\n",
        url = backend.url("/"),
    ));
    let ask = |user: &str| server.send(Request::get("/in/x").header("Authorization", user)).status;
    let (ann, bob, wrong) = ("Basic YW5uOnJpZ2h0", "Basic Ym9iOnJpZ2h0", "Basic YW5uOndyb25n");
    let answer = server.get("/in/x");
    assert_eq!((answer.status, answer.header("www-authenticate").as_deref()), (401, Some("Basic realm=\"inside\"")));
    assert_eq!([ask(wrong), ask(bob)], [401, 403]);
    assert!(backend.received().is_empty());
    assert_eq!(ask(ann), 200);
    assert_eq!((backend.only().field("X-User"), backend.only().field("Authorization")), ("ann", ann));
}

#[test]
fn a_backend_gets_what_the_phases_have_set_and_the_framing_stays_the_servers() {
    let backend = echo();
    let server = serve(&format!(
        "<Location /set/>\nProxyPass {url}\nPerlFixupHandler Mine::fixup\nPerlSetEnv PLACE here\n\
         RequestHeader set X-Mine %{{MINE}}e\nRequestHeader set X-Place %{{PLACE}}e\n</Location>\n\
         <Location /read/>\nProxyPass {url}\nPerlFixupHandler Mine::reads\n</Location>\n\
         <Location /cookie/>\nProxyPass {url}\nPerlFixupHandler Mine::cookie\n</Location>\n",
        url = backend.url("/b/"),
    ));
    let post = Request::new("POST", "/set/x?a=1").header("X-Gone", "1").header("X-Stays", "1").body("a whole body");
    let answer = server.send(post);
    assert_eq!((answer.status, answer.header("x-out").as_deref()), (200, Some("out")));
    let got = backend.only();
    assert_eq!((got.line(), &got.body[..]), ("POST /b/x?z=1 HTTP/1.1", &b"a whole body"[..]));
    assert_eq!(got.field("X-Set"), format!("by proxy:{}", backend.url("/b/x")));
    assert_eq!((got.field("X-Mine"), got.field("X-Place")), ("mine", "here"));
    assert_eq!((got.field("X-Gone"), got.field("X-Stays")), ("", "1"));
    assert_eq!((got.field("Content-Length"), got.field("Transfer-Encoding")), ("12", ""));
    server.send(Request::new("POST", "/read/x").body("unread")).is(200);
    let got = backend.received()[1].clone();
    assert_eq!((got.field("X-Read"), &got.body[..]), ("0", &b"unread"[..]), "the body is the backend's");
    server.send(Request::get("/cookie/x").header("Cookie", "a=1").header("Cookie", "b=2")).is(200);
    let got = backend.received()[2].clone();
    assert_eq!((got.all("Cookie").join("; ").as_str(), got.field("X-Cookie")), ("a=1; b=2", "a=1, b=2"));
}

#[test]
fn a_phase_may_respond_and_the_backend_gets_no_request() {
    let backend = echo();
    let place =
        |path: &str, lines: &str| format!("<Location {path}>\nProxyPass {}\n{lines}\n</Location>\n", backend.url("/"));
    let conf = place("/done", "PerlFixupHandler Mine::answers")
        + &place("/away", "PerlAccessHandler Mine::away")
        + &place("/prints", "PerlFixupHandler Mine::prints")
        + &place("/moved", "PerlFixupHandler Mine::renames")
        + &place("/handled", "PerlFixupHandler Mine::page")
        + &place("/trans/moved", "")
        + &place("/trans/stays", "")
        + "PerlTransHandler Mine::moves\n";
    let server = serve(&conf);
    assert_eq!(server.text("/done/x"), "from a phase");
    let away = server.get("/away/x");
    assert_eq!((away.status, away.header("location").as_deref()), (302, Some("http://login.example/")));
    assert_eq!(server.get("/moved/x").status, 500);
    assert_eq!(server.get("/trans/moved").status, 500);
    server.logged("a Perl handler has changed the path or the file name, after the backend was chosen");
    assert_eq!(server.get("/handled/x").status, 500);
    server.logged("has set $r->handler where a backend answers");
    assert_eq!(server.get("/prints/x").status, 500);
    server.logged("return DONE after a response");
    assert!(backend.received().is_empty());
    assert_eq!(server.text("/trans/stays"), "GET / HTTP/1.1 ");
}

/// Early rules come before the phases, and are not applied to what these have set.
#[test]
fn handlers_see_the_fields_that_early_rules_have_left() {
    let backend = echo();
    let server = serve(&format!(
        "RequestHeader unset X-Remote-User early\n\
         <Location /in>\nProxyPass {}\nPerlAccessHandler Mine::trusts\n</Location>\n",
        backend.url("/"),
    ));
    server.send(Request::get("/in/x").header("X-Remote-User", "admin")).is(200);
    assert_eq!(backend.only().field("X-Remote-User"), "ann");
}
