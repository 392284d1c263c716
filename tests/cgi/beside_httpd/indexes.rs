//! Programs that are the index of a folder.

use crate::cgi::conf;
use crate::support::{Request, Site};

#[test]
fn a_folder_below_a_script_alias_has_its_slash_and_its_index() {
    for mode in ["program", "fork", "persistent"] {
        let perl =
            "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\nindex $ENV{SCRIPT_NAME} $ENV{QUERY_STRING}\";";
        let server = Site::new()
            .script("scripts/index.pl", perl)
            .script("scripts/with/index.pl", perl)
            .script("scripts/without/other.pl", perl)
            .serve(&conf(&format!("CgiMode {mode}\nDirectoryIndex index.pl\nOptions +Indexes")));
        assert_eq!(server.text("/cgi/?a"), "index /cgi/index.pl a", "{mode}");
        assert_eq!(server.text("/cgi/with/"), "index /cgi/with/index.pl ", "{mode}");
        let moved = server.get("/cgi/with?a").is(301);
        assert!(moved.header("location").is_some_and(|to| to.ends_with("/cgi/with/?a")), "{mode}");
        server.get("/cgi/without/").is(403);
    }
}

#[test]
fn a_form_sent_to_a_folder_reaches_its_index_program() {
    for mode in ["program", "fork", "persistent"] {
        let echo = "#!/usr/bin/perl\nlocal $/; my $b = <STDIN>; print \"Content-Type: text/plain\\n\\n$ENV{REQUEST_METHOD} $ENV{SCRIPT_NAME} $ENV{CONTENT_LENGTH} $b\";";
        let site = Site::new()
            .script("scripts/index.pl", echo)
            .script("scripts/with/index.pl", echo)
            .script("htdocs/folder/index.cgi", echo);
        let server = site.serve(&format!(
            "{}DirectoryIndex index.pl index.cgi\nAddHandler cgi-script .cgi\nOptions +ExecCGI\n",
            conf(&format!("CgiMode {mode}"))
        ));
        for (folder, script) in
            [("/cgi/", "/cgi/index.pl"), ("/cgi/with/", "/cgi/with/index.pl"), ("/folder/", "/folder/index.cgi")]
        {
            assert_eq!(server.post(folder, "a=b").is(200).text(), format!("POST {script} 3 a=b"), "{mode}");
            let large = "x".repeat(300_000);
            let body = server.send(Request::new("PUT", folder).body(large.as_bytes())).is(200).text();
            assert_eq!(body, format!("PUT {script} 300000 {large}"), "{mode}");
        }
    }
}

#[test]
fn a_form_sent_to_a_folder_reaches_its_index_program_after_a_perl_phase() {
    let echo = "#!/usr/bin/perl\nlocal $/; my $b = <STDIN>; print \"Content-Type: text/plain\\n\\n$ENV{REQUEST_METHOD} $ENV{SCRIPT_NAME} $ENV{CONTENT_LENGTH} $b\";";
    let look = "package My; use Apache (); sub handler { my $r = shift; read STDIN, my $b, 2 if $r->args && $r->uri =~ m{/$}; 0 } 1;";
    for mode in ["program", "fork", "persistent"] {
        let server = Site::new()
            .script("scripts/index.pl", echo)
            .script("scripts/with/index.pl", echo)
            .script("htdocs/folder/index.cgi", echo)
            .file("htdocs/on/page.txt", "page")
            .file("lib/My.pm", look)
            .serve(&format!(
                "PerlLib lib\nPerlModule My\n<Location />\nPerlFixupHandler My\n</Location>\n\
                 {}DirectoryIndex index.pl index.cgi /cgi/index.pl\nAddHandler cgi-script .cgi\nOptions +ExecCGI\n",
                conf(&format!("CgiMode {mode}"))
            ));
        for (folder, script) in [
            ("/cgi/", "/cgi/index.pl"),
            ("/cgi/with/", "/cgi/with/index.pl"),
            ("/folder/", "/folder/index.cgi"),
            ("/on/", "/cgi/index.pl"),
        ] {
            assert_eq!(server.post(folder, "a=b").is(200).text(), format!("POST {script} 3 a=b"), "{mode}");
            let large = "x".repeat(300_000);
            let body = server.send(Request::new("PUT", folder).body(large.as_bytes())).is(200).text();
            assert_eq!(body, format!("PUT {script} 300000 {large}"), "{mode} {folder}");
            // The index finds the whole body, although the handler has read a part of it.
            let body =
                server.send(Request::new("PUT", &format!("{folder}?read")).body(large.as_bytes())).is(200).text();
            assert!(body.ends_with(&format!(" 300000 {large}")), "{mode} {folder}: {}", body.len());
        }
        assert!(server.get("/cgi/").is(200).text().starts_with("GET /cgi/index.pl"));
    }
}
