//! Handlers of programs by name, and folders of programs.

use crate::cgi::{SH, conf};
use crate::support::Site;

#[test]
fn an_add_handler_below_a_script_alias_wins_and_a_set_handler_wins_over_both() {
    for generation in [1, 2] {
        let (handler, load, print) = match generation {
            1 => (
                "PerlHandler",
                "use Apache ()",
                "$r->send_http_header('text/plain'); $r->print('handled', $r->path_info)",
            ),
            _ => (
                "PerlResponseHandler",
                "use Apache2::RequestRec (); use Apache2::RequestIO ()",
                "$r->content_type('text/plain'); $r->print('handled', $r->path_info)",
            ),
        };
        let program = format!("{SH}printf \"ran$PATH_INFO\"");
        let server = Site::new()
            .script("scripts/test", &program)
            .script("scripts/a.pl", &program)
            .script("scripts/set/a.pl", &program)
            .script("scripts/text/a.pl", &program)
            .script("scripts/unset/test", &program)
            .file("lib/My.pm", &format!("package My; {load}; sub handler {{ my $r = shift; {print}; 0 }} 1;"))
            .serve(&format!(
                "PerlGeneration {generation}\nPerlLib lib\nPerlModule My\n{}\
                 <Location /cgi>\n{handler} My\n</Location>\n\
                 <Location /cgi/set>\nSetHandler cgi-script\n</Location>\n\
                 <Location /cgi/text>\nAddHandler default-handler .pl\n</Location>\n\
                 <Directory @DIR@/scripts/unset>\nSetHandler default-handler\n</Directory>\n\
                 <Location /cgi/unset>\nSetHandler None\n</Location>\n",
                conf("AddHandler perl-script .pl")
            ));
        for (target, expected) in [
            ("/cgi/test", "ran"),
            ("/cgi/test/a.pl", "ran/a.pl"),
            ("/cgi/a.pl", "handled"),
            ("/cgi/a.pl/more", "handled/more"),
            ("/cgi/set/a.pl", "ran"),
            ("/cgi/text/a.pl", program.as_str()),
            ("/cgi/unset/test", "ran"),
        ] {
            assert_eq!(server.text(target), expected, "{target}, generation {generation}");
        }
    }
}

#[test]
fn set_handler_none_lets_add_handler_count_again() {
    let server = Site::new().script("htdocs/a.cgi", &format!("{SH}printf ran")).serve(
        "AddHandler cgi-script .cgi\nOptions +ExecCGI\nSetHandler default-handler\n<Location /a.cgi>\nSetHandler None\n</Location>\n",
    );
    assert_eq!(server.text("/a.cgi"), "ran");
}

#[test]
fn the_rest_of_a_path_follows_the_name_of_its_alias_directly() {
    let program = format!("{SH}printf \"ran $PATH_INFO\"");
    let site = Site::new().script("bin/one", &program).file("files/page.txt", "page").file("folder/page.txt", "page");
    let aliases = "Alias /five/ @DIR@/files/page.txt\nScriptAlias /one/ @DIR@/bin/one\nScriptAlias /same @DIR@/bin/one\n\
         Alias /folder/ @DIR@/folder\nAlias /both/ @DIR@/folder/\nAlias /neither @DIR@/folder\n";
    site.configure(aliases);
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let warnings: Vec<_> = output.err.lines().filter(|line| line.contains("ends with a slash and")).collect();
    assert_eq!(warnings.len(), 3, "{output:?}");
    assert!(warnings.iter().all(|line| line.contains("end both with one, or neither")), "{warnings:?}");
    let server = site.serve(aliases);
    for (target, status, text) in [
        ("/five/", 200, "page"),
        ("/five/a", 404, ""),
        ("/one/", 200, "ran "),
        ("/one/x", 404, ""),
        ("/same/x", 200, "ran /x"),
        ("/folder/page.txt", 404, ""),
        ("/both/page.txt", 200, "page"),
        ("/neither/page.txt", 200, "page"),
    ] {
        let response = server.get(target).is(status);
        if status == 200 {
            assert_eq!(response.text(), text, "{target}");
        }
    }
}
