//! A PerlHandler without SetHandler: mod_perl.c registers perl_handler also for the content type of folders, beside
//! "perl-script".

use super::{site, with_base};

const LISTS: &str = "sub lists { my $r = shift; return DECLINED unless ($r->content_type || '') eq Apache::Constants::DIR_MAGIC_TYPE();
    return DECLINED if ($r->args || '') eq 'no';
    $r->send_http_header('text/plain'); opendir my $d, $r->filename or die; $r->print(join ',', sort grep { !/^[.]/ } readdir $d); OK }";

#[test]
fn the_handler_makes_folder_lists_and_declines_files() {
    let server = site(LISTS)
        .file("htdocs/d/a.txt", "text of a")
        .file("htdocs/d/b.html", "b")
        .file("htdocs/with/index.html", "the index")
        .serve(&with_base("<Location />\nPerlHandler My::lists\nOptions +Indexes\n</Location>"));
    assert_eq!(server.text("/d/"), "a.txt,b.html");
    assert_eq!(server.text("/d"), "a.txt,b.html", "it is asked before the server adds a slash");
    assert_eq!(server.text("/d/a.txt"), "text of a");
    assert!(server.text("/d/?no").contains("b.html"), "a list of the server's own when it declines");
    assert_eq!(server.text("/with/?no"), "the index");
    server.get("/d?no").is(301);
    server.get("/none/").is(404);
}

#[test]
fn set_handler_default_handler_keeps_perl_handler_off_folders() {
    let server = site(LISTS).file("htdocs/d/a.txt", "a").serve(&with_base(
        "<Location />\nPerlHandler My::lists\nSetHandler default-handler\nOptions +Indexes\n</Location>",
    ));
    assert!(server.text("/d/").contains("<html"));
}
