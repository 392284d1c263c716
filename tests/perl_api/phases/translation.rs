//! Handlers that map a URI to a file.

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
fn a_changed_uri_gets_the_sections_of_the_new_path() {
    let server = serve(
        "sub trans { my $r = shift; $r->uri('/hello/there') if $r->uri eq '/old'; DECLINED }
         sub where { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', $r->uri, $r->dir_config('Place') // '-', $r->location, $r->path_info); OK }",
        &("PerlTransHandler My::trans\n".to_owned()
            + &hello("PerlSetVar Place here\nPerlHandler My::where").replace("PerlHandler My::hello\n", "")),
    );
    assert_eq!(server.text("/old"), "/hello/there|here|/hello|/there");
}

/// The variables of both locations in `%ENV`. `look` is code that the Trans handler runs before it changes the URI.
fn variables_after_a_move(look: &str) -> String {
    let code = format!(
        "sub trans {{ my $r = shift; return DECLINED if $r->uri ne '/old'; {look}; $r->uri('/new'); DECLINED }}
         sub show {{ my $r = shift; $r->send_http_header('text/plain');
             $r->print(join ' ', map {{ \"$_=$ENV{{$_}}\" }} sort grep /^(?:[a-z]|SERVER_ADMIN)/, keys %ENV); OK }}"
    );
    let place = |name: &str| {
        format!(
            "<Location /{name}>\nSetHandler perl-script\nPerlHandler My::show\nSetEnv set_{name} 1\nSetEnv set {name}\n\
             PerlSetEnv perl_{name} 1\nPerlSetEnv perl {name}\nSetEnvIf Request_Method G if_{name}\n</Location>\n"
        )
    };
    let hidden = "PerlSetEnv SERVER_ADMIN nobody\n</Location>";
    let server = serve(
        &code,
        &("PerlTransHandler My::trans\nServerAdmin root@here\nSetEnvIf Request_URI ^/old origin\nSetEnv server 1\n"
            .to_owned()
            + &place("old").replace("</Location>", hidden)
            + &place("new")),
    );
    server.text("/old")
}

#[test]
fn the_variables_of_the_place_that_a_request_has_left_are_no_more() {
    let expected = "SERVER_ADMIN=root@here if_new=1 origin=1 perl=new perl_new=1 server=1 set=new set_new=1";
    for look in
        ["1", "my $seen = $ENV{perl_old}", "$r->subprocess_env('perl_old')", "my %copy = (%ENV, %{$r->subprocess_env})"]
    {
        assert_eq!(variables_after_a_move(look), expected, "{look}");
    }
    let own = "$r->subprocess_env(mine => 1); $r->subprocess_env(perl_old => 'mine')";
    assert_eq!(
        variables_after_a_move(own),
        expected.replace("origin", "mine=1 origin").replace("perl_new=1", "perl_new=1 perl_old=mine")
    );
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

/// A handler that prints the values that later phases see when the Trans handlers end their phase without setting a
/// file name.
const LOOKER: &str = "
    sub ok { OK }
    sub tell { my $r = shift; $r->notes(then => defined $r->filename ? 'file' : 'none'); DECLINED }
    sub look { my $r = shift; $r->send_http_header('text/plain');
        $r->print(join '|', map { $_ // 'undef' } $r->notes('then'), $r->filename =~ s{^@DIR@}{}r, $r->path_info, $r->location, $r->dir_config('Dir'), $r->dir_config('Files'), -e $r->finfo ? 'there' : 'nowhere'); OK }";
const LOOKED_AT: &str = "<Location /look>\nSetHandler perl-script\nPerlHandler My::look\n</Location>\n\
    <Directory />\nPerlSetVar Dir root\n</Directory>\n<DirectoryMatch .*>\nPerlSetVar Dir match\n</DirectoryMatch>\n\
    <Files look>\nPerlSetVar Files name\n</Files>\n";

#[test]
fn an_ok_without_a_file_leaves_the_uri_in_its_place() {
    let conf = format!("PerlTransHandler My::tell My::ok\n{LOOKED_AT}");
    let server = serve(LOOKER, &conf);
    assert_eq!(server.text("/look"), "none|/look|undef|/look|undef|name|nowhere");
    assert_eq!(server.text("/look/deeper"), "none|/look/deeper|undef|/look|undef|undef|nowhere");
}

#[test]
fn filename_is_undef_before_translation_and_the_mapped_file_after_it() {
    let server = serve(LOOKER, &format!("PerlPostReadRequestHandler My::tell\n{LOOKED_AT}"));
    assert_eq!(server.text("/look/deeper"), "none|/htdocs/look|/deeper|/look|match|undef|nowhere");
}

#[test]
fn a_uri_that_names_no_file_shows_none_of_the_machines() {
    let server = serve(
        "sub ok { OK } sub part { my $r = shift; $r->send_http_header('text/plain'); my $s = $r->lookup_uri(scalar $r->args); $r->print($s->run, ' ', $s->status); OK }",
        "PerlTransHandler My::ok\n<Location /part>\nSetHandler perl-script\nPerlHandler My::part\n</Location>\n\
         <LocationMatch passwd$>\nOptions +ExecCGI\n</LocationMatch>\n\
         <LocationMatch run$>\nOptions +ExecCGI\nSetHandler perl-script\nPerlHandler Apache::Registry\n</LocationMatch>",
    );
    server.get("/etc/passwd").is(404);
    assert_eq!(server.text("/part?/etc/passwd"), "404 200");
    let script = server.site.path("run");
    server.site.write("run", "print 'ran'");
    server.get(&script.to_string_lossy()).is(404);
}

#[test]
fn translate_name_in_a_trans_handler_finds_the_file_of_the_changed_uri() {
    let server = serve(
        "sub trans { my $r = shift; $r->uri('/other/x'); $r->translate_name; OK }
         sub look { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', $r->filename =~ s{^@DIR@}{}r, $r->dir_config('Dir')); OK }",
        "PerlTransHandler My::trans\nAlias /other @DIR@/files\n<Directory @DIR@/files>\nPerlSetVar Dir files\n\
         SetHandler perl-script\nPerlHandler My::look\n</Directory>",
    );
    server.site.write("files/x", "");
    assert_eq!(server.text("/any"), "/files/x|files");
}

#[test]
fn directory_sections_of_the_new_file_and_location_sections_of_the_uri_hold() {
    let server = serve(
        "sub trans { my $r = shift; $r->filename('@DIR@/apps/run'); OK }
         sub look { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', map { $r->dir_config($_) // '-' } qw(Old New Where Both)); OK }",
        "PerlTransHandler My::trans\n<Directory @DIR@/htdocs>\nPerlSetVar Old 1\n</Directory>\n\
         <Directory @DIR@/apps>\nPerlSetVar New 1\nPerlSetVar Both directory\nSetHandler perl-script\nPerlHandler My::look\n</Directory>\n\
         <Location /place>\nPerlSetVar Where location\nPerlSetVar Both location\n</Location>",
    );
    assert_eq!(server.text("/place"), "-|1|location|location");
    assert_eq!(server.text("/elsewhere"), "-|1|-|directory");
}

#[test]
fn variables_that_were_looked_at_before_tell_of_the_script_that_was_found() {
    let server = serve(
        "sub early { my $r = shift; $r->subprocess_env(EARLY => 'e'); DECLINED }
         sub look { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', @ENV{qw(EARLY SCRIPT_NAME PATH_INFO SCRIPT_FILENAME)}); OK }",
        &("PerlTransHandler My::early\n".to_owned() + &hello("").replace("My::hello", "My::look")),
    );
    assert_eq!(
        server.text("/hello/more").replace(&*server.site.folder().to_string_lossy(), ""),
        "e|/hello|/more|/htdocs/hello"
    );
}
