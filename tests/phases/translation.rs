//! Handlers that say what a URI means.

use super::{hello, serve};

#[test]
fn a_trans_handler_names_the_file() {
    let server = serve(
        "sub trans { my $r = shift; return DECLINED unless $r->uri =~ m{^/pretty/(\\w+)$}; $r->filename(\"@DIR@/files/$1.txt\"); OK }",
        "PerlTransHandler My::trans",
    );
    server.site.write("files/one.txt", "the first");
    server.site.write("htdocs/plain.txt", "plain");
    assert_eq!(server.text("/pretty/one"), "the first");
    assert_eq!(server.get("/pretty/one").is(200).header("content-type").as_deref(), Some("text/plain"));
    server.get("/pretty/none").is(404);
    assert_eq!(server.text("/plain.txt"), "plain");
}

#[test]
fn a_changed_uri_leads_to_the_sections_of_the_new_place() {
    let server = serve(
        "sub trans { my $r = shift; $r->uri('/hello/there') if $r->uri eq '/old'; DECLINED }
         sub where { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', $r->uri, $r->dir_config('Place') // '-', $r->location, $r->path_info); OK }",
        &("PerlTransHandler My::trans\n".to_owned()
            + &hello("PerlSetVar Place here\nPerlHandler My::where").replace("PerlHandler My::hello\n", "")),
    );
    assert_eq!(server.text("/old"), "/hello/there|here|/hello|/there");
}

#[test]
fn the_file_of_a_trans_handler_finds_its_directory_section() {
    let server = serve(
        "sub trans { my $r = shift; $r->filename('@DIR@/apps/run'); OK }",
        "PerlTransHandler My::trans\n<Directory @DIR@/apps>\nSetHandler perl-script\nPerlHandler My::hello\n</Directory>",
    );
    assert_eq!(server.text("/anything"), "hello");
}

#[test]
fn a_fixup_handler_may_choose_another_file() {
    let server = serve(
        "sub swap { my $r = shift; $r->filename('@DIR@/htdocs/b.txt'); DECLINED }",
        "<Location /a.txt>\nPerlFixupHandler My::swap\n</Location>",
    );
    server.site.write("htdocs/a.txt", "a");
    server.site.write("htdocs/b.txt", "b");
    assert_eq!(server.text("/a.txt"), "b");
}

#[test]
fn a_handler_has_another_uri_translated() {
    let server = serve(
        "sub trans { my $r = shift; $r->filename('@DIR@/files/pretty') if $r->uri eq '/pretty'; $r->filename ? OK : DECLINED }
         sub ask { my $r = shift; $r->send_http_header('text/plain');
             for my $uri (qw(/alias/x /pretty /alias/y)) { $r->uri($uri); $r->print(join(' ', $r->translate_name, $r->filename =~ s{^@DIR@}{}r, $r->current_callback), \"\\n\") }
             OK }",
        &("PerlTransHandler My::trans\nAlias /alias/ @DIR@/files/\n".to_owned()
            + &hello("").replace("My::hello", "My::ask")),
    );
    for name in ["x", "y", "pretty"] {
        server.site.write(&format!("files/{name}"), "");
    }
    assert_eq!(server.text("/hello"), "0 /files/x PerlHandler\n0 /files/pretty PerlHandler\n0 /files/y PerlHandler\n");
}
