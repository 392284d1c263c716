//! `cameleer run script.cgi` and `cameleer run cgi-bin/`.

use super::TEXT;
use crate::support::Site;

/// The first line of a Perl script.
const PERL: &str = "#!/usr/bin/perl\n";

#[test]
fn a_single_script_answers_every_path() {
    let server = Site::new()
        .script("hello.cgi", &format!("#!/usr/bin/perl\n{TEXT}print \"hello $ENV{{PATH_INFO}} $ENV{{QUERY_STRING}}\";"))
        .run(["hello.cgi"]);
    assert_eq!(server.text("/?a=b"), "hello / a=b");
    assert_eq!(server.text("/x/y?c"), "hello /x/y c");
}

#[test]
fn a_folder_serves_its_scripts_by_name_in_every_mode() {
    let site = || {
        Site::new()
            .script("cgi-bin/one.cgi", &format!("{PERL}{TEXT}print 'one';"))
            .script("cgi-bin/two.pl", &format!("{PERL}{TEXT}our $n; print 'two ', ++$n, ' ', $ENV{{PATH_INFO}} || '';"))
    };
    let serve = |mode| site().run_with_one_worker(["cgi-bin/", "--cgi-mode", mode]);
    for (server, second) in [
        (site().run_with_one_worker(["cgi-bin/"]), "two 1 "),
        (serve("program"), "two 1 "),
        (serve("fork"), "two 1 "),
        (serve("persistent"), "two 2 "),
    ] {
        assert_eq!(server.text("/one.cgi"), "one");
        assert_eq!(server.text("/two.pl/more"), "two 1 /more");
        assert_eq!(server.text("/two.pl"), second);
        server.get("/three.cgi").is(404);
    }
}

/// A folder of scripts with other files among them.
fn mixed() -> Site {
    Site::new()
        .script("cgi-bin/one.cgi", &format!("{PERL}{TEXT}print 'one ', $ENV{{PATH_INFO}} || '';"))
        .script("cgi-bin/info", &format!("#!/usr/bin/perl\n{TEXT}print 'info';"))
        .file("cgi-bin/style.css", "b { }")
        .file("cgi-bin/data.txt", "data")
        .file("cgi-bin/Secret.pm", "package Secret; 1;")
        .file("cgi-bin/images/a.png", "png")
}

#[test]
fn the_root_of_a_folder_lists_its_scripts() {
    let server = mixed().run(["cgi-bin"]);
    let page = server.text("/");
    for name in ["one.cgi", "info"] {
        assert!(page.contains(&format!("href=\"{name}\"")), "{name}: {page}");
        server.get(&format!("/{name}")).is(200);
    }
    assert!(!page.contains("style.css") && !page.contains("Secret"), "{page}");
    for beside in ["/style.css", "/data.txt", "/Secret.pm", "/index.html", "/images/a.png"] {
        assert_ne!(server.get(beside).status, 200, "{beside} was not asked for");
    }
}

#[test]
fn an_index_in_the_folder_is_its_root() {
    let server = mixed().file("cgi-bin/index.html", "<h1>Start</h1>").run(["cgi-bin/"]);
    for path in ["/", "/index.html"] {
        let page = server.get(path).is(200);
        assert_eq!(page.text(), "<h1>Start</h1>");
        assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    }
    assert_eq!(server.text("/one.cgi/"), "one /");
}

#[test]
fn files_beside_the_scripts_are_served_with_the_option_static() {
    let server = mixed().run(["cgi-bin", "--static", "cgi-bin"]);
    for (path, expected) in
        [("/style.css", "b { }"), ("/data.txt", "data"), ("/images/a.png", "png"), ("/one.cgi/a.css", "one /a.css")]
    {
        assert_eq!(server.text(path), expected, "{path}");
    }
    assert_ne!(server.get("/Secret.pm").status, 200, "nobody shows a program");
    assert!(server.text("/").contains("one.cgi"));
}

#[test]
fn a_folder_of_pages_is_served_beside_the_scripts() {
    let site =
        mixed().file("pages/index.html", "start").file("pages/sub/a.html", "a").file("pages/one.cgi", "#!/bin/sh");
    let server = site.run(["cgi-bin", "--static", "pages"]);
    for (path, expected) in [("/", "start"), ("/sub/a.html", "a"), ("/one.cgi", "one "), ("/info", "info")] {
        assert_eq!(server.text(path), expected, "{path}");
    }
    server.get("/style.css").is(404);
}

#[test]
fn a_folder_of_files_that_is_not_there_is_an_error() {
    let site = Site::new().file("app.psgi", "sub { [200, [], []] }");
    site.cameleer(["run", "--static", "none", "app.psgi"]).failed(2, "no such folder");
    site.script("a.cgi", TEXT).cameleer(["run", "--static", "none", "a.cgi"]).failed(2, "no such folder");
}

/// BEGIN blocks that end the process that compiles them.
#[test]
fn scripts_whose_begin_blocks_end_the_process_are_named_and_the_others_serve() {
    let begin = |code: &str| format!("{PERL}BEGIN {{ {code} }}\n{TEXT}print 'end';");
    let site = || {
        Site::new()
            .script("cgi-bin/a.cgi", &format!("{PERL}{TEXT}print 'first';"))
            .script(
                "cgi-bin/exec.cgi",
                &begin("$| = 1; print \"Content-Type: text/plain\\n\\n\"; exec '/bin/echo', 'by exec'"),
            )
            .script("cgi-bin/kill.cgi", &begin("kill 'KILL', $$"))
            .script("cgi-bin/leave.cgi", &begin("require POSIX; POSIX::_exit(3)"))
            .script("cgi-bin/exit.cgi", &begin("exit 4"))
            .script("cgi-bin/z.cgi", &format!("{PERL}{TEXT}print 'last';"))
    };
    let named = ["exec.cgi:1: ", "kill.cgi:1: ", "leave.cgi:1: ", "exit.cgi:1: "];
    for mode in ["fork", "persistent"] {
        let server = site().run_with_one_worker(["cgi-bin", "--cgi-mode", mode]);
        let log = server.log();
        for name in named {
            assert!(log.contains(name), "{mode}: {name} in {log}");
        }
        assert!(
            log.contains("the process was killed by SIGKILL") && log.contains("the process ended with status 3"),
            "{log}"
        );
        for round in 1..=2 {
            for (target, status, text) in [
                ("/a.cgi", 200, "first"),
                ("/exec.cgi", 200, "by exec\n"),
                ("/kill.cgi", 500, ""),
                ("/leave.cgi", 500, ""),
                ("/z.cgi", 200, "last"),
            ] {
                let response = server.get(target).is(status);
                assert!(status == 500 || response.text() == text, "{mode} {target} {round}: {}", response.text());
            }
        }
        assert!(!server.log().contains(" lost GET"), "{mode}: no worker has ended: {}", server.log());
    }
    let checked = site().cameleer(["check", "cgi-bin", "--cgi-mode", "fork"]).failed(78, "kill.cgi:1: ");
    assert!(named.iter().all(|name| checked.err.contains(name)), "{checked:?}");
}

#[test]
fn a_script_whose_module_ends_the_process_runs_as_a_program_and_the_others_serve() {
    for mode in ["fork", "persistent"] {
        let server = Site::new()
            .script("cgi-bin/a.cgi", &format!("{PERL}{TEXT}print 'first';"))
            .script("cgi-bin/ends.cgi", &format!("{PERL}use lib 'lib';\nuse Outer;\n{TEXT}print 'never';"))
            .script("cgi-bin/execs.cgi", &format!("{PERL}require './execs.pl';\nuse lib 'lib';\nuse Execs;\n{TEXT}"))
            .script("cgi-bin/z.cgi", &format!("{PERL}{TEXT}print 'last';"))
            .file("cgi-bin/lib/Outer.pm", "package Outer; use Inner; 1;")
            .file("cgi-bin/lib/Inner.pm", "package Inner; require POSIX; POSIX::_exit(3); 1;")
            .file(
                "cgi-bin/lib/Execs.pm",
                "package Execs; $| = 1; print qq(Content-Type: text/plain\n\n); exec '/bin/echo', 'by exec';",
            )
            .run_with_one_worker(["cgi-bin", "--cgi-mode", mode]);
        for name in ["ends.cgi:1: ", "execs.cgi:1: "] {
            assert!(server.log().contains(name), "{mode}: {name} in {}", server.log());
        }
        for (target, status, text) in [
            ("/a.cgi", 200, "first"),
            ("/ends.cgi", 500, ""),
            ("/execs.cgi", 200, "by exec\n"),
            ("/z.cgi", 200, "last"),
        ] {
            let response = server.get(target).is(status);
            assert!(status == 500 || response.text() == text, "{mode} {target}: {}", response.text());
        }
        assert!(!server.log().contains(" lost GET"), "{mode}: no worker has ended: {}", server.log());
    }
}
