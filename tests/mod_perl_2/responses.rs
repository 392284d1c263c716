//! Responses that follow from a handler's status, header and standard output.

use super::{serve, site};
use crate::support::{Request, Site};

#[test]
fn a_content_length_is_omitted_without_a_body() {
    let server = serve("use Apache2::Response (); sub handler { my $r = shift; $r->set_content_length(25); 0 }", "");
    let response = server.get("/my").is(200);
    assert_eq!((response.header("Content-Length").as_deref(), response.text().as_str()), (Some("0"), ""));
    assert!(!server.log().contains("shorter than its Content-Length"), "{}", server.log());
    assert_eq!(server.send(Request::new("HEAD", "/my")).header("Content-Length").as_deref(), Some("25"));
}

/// As in httpd: a handler that flushes gets no computed Content-Length, even if the response is complete before it is
/// sent.
#[test]
fn an_answer_that_was_flushed_has_no_length_but_its_own() {
    let code = "use Apache2::Response (); sub handler { my $r = shift; $r->set_content_length(4) if $r->args; $r->print('body'); $r->rflush; 0 }";
    let server = serve(code, "");
    for _ in 0..50 {
        let response = server.get("/my").is(200);
        assert_eq!((response.header("Content-Length"), response.text().as_str()), (None, "body"));
        assert_eq!(server.get("/my?1").header("Content-Length").as_deref(), Some("4"));
    }
}

/// As in httpd. SOAP::Lite's handler sets its type both ways.
#[test]
fn content_type_overrides_content_type_headers() {
    let code = "sub handler { my $r = shift; my $said = $r->args // ''; $r->headers_out->add('Content-Type', 'text/one') if $said =~ /1/;\n\
        $r->err_headers_out->add('content-type', 'text/two') if $said =~ /2/; $r->content_type('text/three') if $said =~ /3/; $r->print('x'); 0 }";
    let server = serve(code, "");
    for (query, types) in [("1", "text/one"), ("2", "text/two"), ("3", "text/three"), ("123", "text/three")] {
        assert_eq!(
            server.get(&format!("/my?{query}")).is(200).header("content-type").as_deref(),
            Some(types),
            "{query}"
        );
    }
}

#[test]
fn a_status_of_200_is_an_error_before_any_output() {
    let server = serve("sub handler { my $r = shift; $r->print('body') if $r->args; 200 }", "");
    let response = server.get("/my").is(200);
    assert!(response.text().contains("internal error"), "{}", response.text());
    assert_eq!(server.text("/my?1"), "body");
}

#[test]
fn standard_output_is_the_clients_in_perl_script_only() {
    let code = "use Apache2::SubRequest (); sub handler { my $r = shift; print 'to STDOUT'; $r->print('to the client');\n\
        $r->lookup_uri('/inner')->run if $r->args; print `echo of a child`; 0 }\n\
        sub inner { my $r = shift; print ', and to STDOUT within'; 0 }";
    let lines = "<Location /inner>\nSetHandler perl-script\nPerlResponseHandler My::inner\n</Location>";
    let server = site(code).serve(&format!("{}\n{lines}", super::conf("")));
    assert_eq!(server.text("/my"), "to the client");
    assert!(server.logged("to STDOUT").contains("perl:"), "{}", server.log());
    assert_eq!(server.text("/my?1"), "to the client, and to STDOUT within");
}

#[test]
fn a_script_that_dies_behind_its_header_is_an_error_also_with_autoflush() {
    let conf = "MaxClients 1\nStartServers 1\nPerlModule ModPerl::Registry\nAlias /perl/ \"@DIR@/scripts/\"\n<Location /perl>\n\
        SetHandler perl-script\nPerlResponseHandler ModPerl::Registry\nPerlOptions +ParseHeaders\nOptions +ExecCGI\n</Location>";
    let script = "$| = 1; print \"Content-Type: text/plain\\n\\n\"; print 'body' if $ENV{QUERY_STRING}; die 'oh no';";
    let server = Site::new().file("scripts/a.pl", script).serve(conf);
    assert_eq!(server.get("/perl/a.pl").status, 500);
    assert!(server.get("/perl/a.pl?1").is(200).text().starts_with("body"));
}

/// The script's output is a complete response; its status does not count as an error of the script.
#[test]
fn a_script_may_write_its_own_status_line() {
    let conf = "MaxClients 1\nStartServers 1\nPerlModule ModPerl::Registry\nAlias /perl/ \"@DIR@/scripts/\"\n<Location /perl>\n\
        SetHandler perl-script\nPerlResponseHandler ModPerl::Registry\nOptions +ExecCGI\n</Location>";
    let script = "print \"HTTP/1.0 250 Pretty OK\\r\\nContent-Type: text/plain\\n\\n\"; print 'body';";
    let server = Site::new().file("scripts/nph-a.pl", script).serve(conf);
    let response = server.get("/perl/nph-a.pl");
    assert_eq!((response.status, response.text().as_str()), (250, "body"));
}

#[test]
fn a_request_for_a_password_without_authtype_means_basic() {
    let code = "use Apache2::Access (); sub handler { my $r = shift; my $before = $r->auth_type; $r->get_basic_auth_pw;\n\
        $r->print($before, ' ', $r->auth_type); 0 }";
    assert_eq!(serve(code, "").text("/my"), "none Basic");
    assert_eq!(serve(code, "AuthType basic\nAuthName own").text("/my"), "basic basic");
}

#[test]
fn dollar_zero_is_the_path_of_the_server() {
    let code = "sub handler { my $r = shift; $r->print($0 =~ m{/cameleer\\z} ? 'server' : $0); 0 }";
    assert_eq!(serve(code, "").text("/my"), "server");
}

#[test]
fn default_language_applies_to_files_and_handlers_without_one() {
    let code = "sub handler { my $r = shift; my $before = join ' ', @{ $r->content_languages // [] };\n\
        $r->content_languages(['us', 'cn']) if $r->args; $r->print($before); 0 }\nsub pass { -1 }";
    for inside in ["", "PerlFixupHandler My::pass"] {
        let site = site(code).file("htdocs/a.html", "a").file("htdocs/b.de.html", "b");
        let server = site.serve(&format!(
            "PerlSwitches -Ilib\nPerlModule My\nDefaultLanguage fr\nAddLanguage de de\n{inside}\n<Location /my>\nSetHandler modperl\n\
             PerlResponseHandler My\n</Location>\n"
        ));
        for (target, text, language) in
            [("/my", "fr", "fr"), ("/my?set", "fr", "us, cn"), ("/a.html", "a", "fr"), ("/b.de.html", "b", "de")]
        {
            let response = server.get(target);
            let value = response.header("Content-Language").unwrap_or_default();
            assert_eq!((response.text().as_str(), value.as_str()), (text, language), "{target} {inside}");
        }
    }
}
