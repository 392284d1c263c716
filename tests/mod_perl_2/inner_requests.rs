//! Properties of subrequests, internal redirects and error pages, as in Apache 2.4 with mod_perl 2.0.12.

use super::{conf, site};
use crate::support::{Request, Server};

/// `/my?WORD` runs that sub; `shown` returns a request's properties.
fn serve(subs: &str) -> Server {
    let code = format!(
        "use Apache2::SubRequest ();\n\
         sub shown {{ my $r = shift; join ' ', map {{ length $_ ? $_ : '-' }} $r->uri, $r->unparsed_uri, $r->path_info, $r->args // '-', \
         $r->protocol }}\n{subs}\n\
         sub handler {{ my $r = shift; my ($sub, $rest) = split /=/, $r->args // 'plain', 2; no strict 'refs'; &{{$sub}}($r, $rest) }}\n\
         sub plain {{ my $r = shift; $r->print(shown($r)); 0 }}\n\
         sub again {{ my $r = shift; $r->print(shown($r), ' the_request ', $r->the_request); 0 }}"
    );
    let page = "<Location /page>\nSetHandler modperl\nPerlResponseHandler My\n</Location>\nErrorDocument 404 /page?again\n\
        Alias /perl/ @DIR@/scripts/\nPerlModule ModPerl::Registry\n\
        <Location /perl>\nSetHandler perl-script\nPerlResponseHandler ModPerl::Registry\nPerlOptions +ParseHeaders\nOptions +ExecCGI\n\
        </Location>";
    let env = "print qq{Content-Type: text/plain\n\n}, join ' ', map { $_ // '-' } @ENV{qw(SCRIPT_NAME PATH_INFO REQUEST_URI)};";
    let moved = "print qq{Location: /page/x%20y?again\n\n};";
    let site = site(&code).file("scripts/env.pl", env).file("scripts/moved.pl", moved);
    site.serve(&format!("{}\n{page}", conf("")))
}

#[test]
fn a_subrequest_knows_the_uri_that_it_was_looked_up_by() {
    let server = serve(
        "sub looks { my ($r, $uri) = @_; $uri =~ tr/!/?/; $r->print(shown($r->lookup_uri($uri))); 0 }\n\
         sub file { my ($r, $file) = @_; $r->print(shown($r->lookup_file($file))); 0 }",
    );
    let cases = [
        ("/my/a?looks=/my/x/y!q", "/my/x/y /my/x/y?q /x/y q INCLUDED"),
        ("/my/a?looks=/my/a%20b!c", "/my/a b /my/a%20b?c /a b c INCLUDED"),
        ("/my/a?looks=b!z", "/my/b /my/b?z /b z INCLUDED"),
        ("/my/a%20b/c?looks=d", "/my/a b/d /my/a%20b/d /a b/d - INCLUDED"),
        ("/my/a?file=some", "/my/some /my/some - - INCLUDED"),
    ];
    for (target, expected) in cases {
        assert_eq!(server.text(target), expected, "{target}");
    }
    let script = server.site.filled("@DIR@/scripts/env.pl");
    assert_eq!(server.text(&format!("/my?file={script}")), format!("- {script} - - INCLUDED"));
    assert_eq!(server.text(&format!("/my?file={script}/more")), format!("- {script}/more /more - INCLUDED"));
}

#[test]
fn a_request_that_another_was_led_to_knows_its_own_uri_and_the_clients_line() {
    let server = serve("sub redirects { my $r = shift; $r->internal_redirect('/page/x%20y?again'); 0 }");
    let is = |line: &str| format!("/page/x y /page/x%20y?again /x y again HTTP/1.1 the_request GET {line} HTTP/1.1");
    assert_eq!(server.text("/my?redirects"), is("/my?redirects"));
    assert_eq!(server.text("/perl/moved.pl"), is("/perl/moved.pl"), "by the front");
    let page = server.send(Request::get("/nothing/here?q")).is(404).text();
    assert_eq!(page, "/page /page?again - again HTTP/1.1 the_request GET /nothing/here?q HTTP/1.1");
}

#[test]
fn a_part_of_another_answer_has_all_of_its_path_as_its_name() {
    let server = serve("sub runs { my $r = shift; $r->lookup_uri('/perl/env.pl/extra')->run; 0 }");
    assert_eq!(server.text("/my?runs"), "/perl/env.pl/extra /extra /my?runs");
    assert_eq!(server.text("/perl/env.pl/extra"), "/perl/env.pl /extra /perl/env.pl/extra");
}

#[test]
fn a_script_that_answers_in_the_place_of_a_handler_with_a_type_prints_its_header() {
    let server = serve(
        "sub redirects { my $r = shift; $r->content_type('text/html'); $r->internal_redirect('/perl/env.pl'); 0 }",
    );
    let response = server.get("/my?redirects").is(200);
    assert_eq!(response.header("content-type").as_deref(), Some("text/plain"));
    assert_eq!(response.text(), "/perl/env.pl - /my?redirects");
}
