//! `--static` beside an application or a handler: existing files without a worker, all else by the program.

use std::os::unix::fs::symlink;

use crate::support::{Request, Site};

const APP: &str = "sub { my $e = shift; [200, ['Content-Type', 'text/plain'], [join '|', 'app', $e->{REQUEST_METHOD}, $e->{PATH_INFO}]] }";

fn site() -> Site {
    Site::new()
        .file("app.psgi", APP)
        .file("public/style.css", "b { }")
        .file("public/index.html", "start")
        .file("public/sub/A page.HTML", "a page")
        .file("public/dispatch.cgi", "#!/usr/bin/perl")
        .file("public/.secret.txt", "secret")
        .file("public/.git/config.txt", "secret")
        .file("secret.txt", "secret")
}

#[test]
fn existing_files_are_sent_by_the_front_and_other_paths_reach_the_application() {
    let server = site().run(["--static", "public", "app.psgi"]);
    for (path, expected) in [
        ("/style.css", "b { }"),
        ("/style.css?v=2", "b { }"),
        ("/index.html", "start"),
        ("/sub/A%20page.HTML", "a page"),
        ("/", "app|GET|/"),
        ("/sub", "app|GET|/sub"),
        ("/sub/", "app|GET|/sub/"),
        ("/other.css", "app|GET|/other.css"),
        ("/style.css/more", "app|GET|/style.css/more"),
    ] {
        assert_eq!(server.text(path), expected, "{path}");
    }
    let file = server.get("/style.css");
    assert!(file.header("etag").is_some(), "{file:?}");
    let known = Request::get("/style.css").header("If-None-Match", &file.header("etag").expect("seen"));
    server.send(known).is(304);
    server.post("/style.css", "a=b").is(405);
    assert_eq!(server.post("/form", "a=b").text(), "app|POST|/form");
}

#[test]
fn programs_hidden_files_and_those_outside_of_the_folder_are_not_sent() {
    let server = site().run(["--static", "public", "app.psgi"]);
    for path in [
        "/dispatch.cgi",
        "/.secret.txt",
        "/.git/config.txt",
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/sub/..%2f..%2fsecret.txt",
    ] {
        let text = server.get(path).text();
        assert!(!text.contains("secret") || text.starts_with("app|"), "{path}: {text}");
        assert!(!text.contains("#!"), "{path}: {text}");
    }
}

#[test]
fn a_device_or_a_folder_with_the_name_of_a_file_reaches_the_application() {
    let site = site().file("public/folder.css/x", "");
    symlink("/dev/zero", site.path("public/endless.txt")).expect("made");
    symlink("loop.txt", site.path("public/loop.txt")).expect("made");
    let server = site.run(["--static", "public", "app.psgi"]);
    for path in ["/endless.txt", "/loop.txt", "/folder.css"] {
        assert_eq!(server.text(path), format!("app|GET|{path}"));
    }
    let long = format!("/{}.css", "x".repeat(5000));
    assert_eq!(server.text(&long), format!("app|GET|{long}"));
}

#[test]
fn a_handler_and_code_have_files_beside_them() {
    let handler =
        "package Hi; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('handler'); 0 } 1;";
    let server = site().file("lib/Hi.pm", handler).run(["-I", "lib", "-M", "Hi", "--static", "public"]);
    assert_eq!(server.text("/style.css") + &server.text("/"), "b { }handler");
    let server = site().run(["-e", APP, "--static", "public"]);
    assert_eq!(server.text("/style.css") + &server.text("/"), "b { }app|GET|/");
}

#[test]
fn a_folder_with_the_program_in_it_is_named_in_a_warning() {
    let warning = "so clients can read the files beside it with endings such as .json";
    let site = || site().file("config.json", "{}");
    for server in [site().run(["--static", ".", "app.psgi"]), site().run(["--static", "."])] {
        assert_eq!(server.text("/config.json"), "{}");
        assert!(server.log().contains(warning), "{}", server.log());
    }
    let server = site().run(["--static", "public", "app.psgi"]);
    assert_eq!(server.text("/config.json"), "app|GET|/config.json");
    assert!(!server.log().contains(warning), "{}", server.log());
}
