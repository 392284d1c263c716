//! The checked-in examples, each served from its own folder.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Request, Server, Site, is_tainted};

fn example(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).join(name)
}

#[track_caller]
fn run(name: &str) -> Server {
    Site::new().run([example(name).to_str().expect("a plain path")])
}

/// Serves an example's configuration unchanged, except for its addresses and the place of its state.
#[track_caller]
fn serve(name: &str) -> Server {
    let site = Site::new();
    let text = std::fs::read_to_string(example(name)).expect("the example is there");
    let folder = example(name).parent().expect("a folder").to_owned();
    let listen = format!("Listen 127.0.0.1:{}", site.port);
    let state = site.filled("Define STATE \"@DIR@/state\"");
    let text: Vec<&str> = text
        .lines()
        .map(|line| match line {
            line if line.starts_with("Listen ") => &listen,
            line if line.starts_with("Define STATE ") => &state,
            line => line,
        })
        .collect();
    let switch = if is_tainted() { "PerlTaintCheck On\n" } else { "" };
    site.write(
        "site.conf",
        &(switch.to_owned()
            + &text.join("\n")
            + "\nControlSocket \"@DIR@/control.sock\"\nErrorLog \"@DIR@/error.log\"\n\
               PerlSetEnv CAMELEER_DEMO_DB \"@DIR@/demo.db\"\n"),
    );
    let mut command = site.serve_command();
    command.arg("-d").arg(folder);
    Server::start(site, command)
}

#[test]
fn the_hello_application_answers() {
    let output = run("psgi/hello.psgi").text("/camel");
    assert!(output.starts_with("Hello, camel. Worker "), "{output}");
}

#[test]
fn the_streaming_application_sends_its_parts() {
    let server = run("psgi/streaming.psgi");
    assert_eq!(server.text("/1"), "line 1 of 1\n");
    server.logged("1 lines were sent");
    let mut connection = server.connect();
    connection.raw("GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    assert_eq!(connection.chunk(), b"line 1 of 2\n", "before the second is written");
}

#[test]
fn the_registry_scripts_answer() {
    let server = run("registry/cgi-bin");
    let body = server.text("/counter.cgi?name=camel");
    assert!(body.starts_with("Hello, camel. This worker has run this script "), "{body}");
    assert!(server.text("/env.cgi").contains("GATEWAY_INTERFACE="));
}

#[test]
fn the_handler_module_answers_with_its_configuration() {
    let server = serve("handler/site.conf");
    assert_eq!(server.text("/hello?name=Ada"), "Hello, Ada.\n");
    assert_eq!(server.text("/bonjour"), "Bonjour, world.\n");
    assert_eq!(server.text("/hello?lang=it"), "Buongiorno, world.\n");
    server.get("/hello?lang=xx").is(404);
}

#[test]
fn the_demo_site_answers() {
    let server = serve("demo/site.conf");
    assert!(server.text("/").contains("<h1>Cameleer</h1>"));
    assert_eq!(server.get("/style.css").header("content-type").as_deref(), Some("text/css"));
    let signed = server.post("/cgi/sign.pl", "name=Ana+%3Cb%3E&message=Caf%C3%A9").is(303);
    assert!(signed.header("location").is_some_and(|to| to.ends_with("/book")));
    assert!(server.text("/book").contains("<b>Ana &lt;b&gt;</b>") && server.text("/book").contains("Café"));
    assert!(server.text("/api/count").starts_with(r#"{"entries":1,"#));
    server.post("/cgi/sign.pl", "name=").is(400);
    server.get("/api/other").is(404);
    assert!(!server.log().contains("warn]"), "{}", server.log());
    let check = server.site.cameleer(["check", "-f", "site.conf", "-d", &example("demo").display().to_string()]);
    assert!(!check.succeeded().err.contains("warning"), "no line of its configuration causes one");
}

#[test]
fn the_asp_example_stores_bookmarks() {
    let server = serve("asp/site.conf");
    server.get("/list.asp").is(302);
    let front = server.get("/").is(200);
    assert!(front.text().contains("Who are you?"), "{front:?}");
    let cookie = front.header("set-cookie").expect("a session");
    let cookie = cookie.split(';').next().expect("name and value");
    let post = |page: &str, form: &str| server.send(Request::post(page, form).header("Cookie", cookie));
    let list = || server.send(Request::get("/list.asp").header("Cookie", cookie)).is(200).text();
    assert!(post("/index.asp", "user=%3Cb%3E").is(200).text().contains("letters or digits"));
    assert_eq!(post("/index.asp", "user=ana").is(302).header("location").as_deref(), Some("list.asp"));
    assert!(list().contains("No bookmarks yet."));
    assert!(post("/list.asp", "url=javascript:x&title=x").is(200).text().contains("begins with http"));
    post("/list.asp", "url=https://example.org/?a=1%26b=2&title=%3CCaf%C3%A9%3E").is(302);
    post("/list.asp", "url=https://example.net/").is(302);
    assert!(post("/list.asp", "url=https://example.net/").is(200).text().contains("already"));
    let page = list();
    assert!(page.contains(r#"<a href="https://example.org/?a=1&amp;b=2">&lt;Café&gt;</a>"#), "{page}");
    let (_, id) = page.split_once(r#"name="delete" value=""#).expect("a button");
    let (id, _) = id.split_once('"').expect("a number");
    server.post("/list.asp", &format!("delete={id}")).is(302);
    assert_eq!(list(), page, "a stranger deletes nothing");
    post("/list.asp", &format!("delete={id}")).is(302);
    assert_eq!(list().matches("<li>").count(), 1);
    post("/index.asp", "leave=1").is(200);
    server.get("/global.asa").is(404);
    server.get("/header.inc").is(404);
}

/// The files below examples/ with this ending, relative to that folder.
fn examples(ending: &str) -> Vec<String> {
    let find = Command::new("find").args([".", "-name", &format!("*{ending}")]).current_dir(example("")).output();
    let found = String::from_utf8(find.expect("find runs").stdout).expect("ASCII");
    found.lines().map(|path| path.trim_start_matches("./").to_owned()).collect()
}

#[test]
fn every_example_is_started_by_a_test() {
    let tests = include_str!("examples.rs");
    let is_started = |name: &str| ["run", "serve"].iter().any(|verb| tests.contains(&format!("{verb}(\"{name}\")")));
    let configurations = examples("site.conf");
    let applications = examples(".psgi");
    assert!(!configurations.is_empty() && !applications.is_empty());
    for name in &configurations {
        assert!(is_started(name), "no test here serves examples/{name}");
    }
    for name in &applications {
        let (folder, file) = name.split_once('/').expect("an example has a folder");
        let conf = std::fs::read_to_string(example(folder).join("site.conf")).unwrap_or_default();
        let is_loaded = conf.lines().any(|line| line.trim().starts_with("Psgi") && line.contains(file));
        assert!(is_started(name) || is_loaded, "no test here runs examples/{name}");
    }
}

#[test]
fn every_example_passes_the_check() {
    let site = Site::new();
    for conf in examples("site.conf") {
        site.cameleer(["check", "-f", example(&conf).to_str().expect("a plain path")]).succeeded();
    }
    for program in ["psgi/hello.psgi", "psgi/streaming.psgi", "registry/cgi-bin"] {
        site.cameleer(["check", example(program).to_str().expect("a plain path")]).succeeded();
    }
}
