//! `CustomLog … json`

use serde_json::Value;

use crate::support::{Request, Server, Site, eventually, until};

fn serve() -> Server {
    let app = "sub { my $env = shift; $env->{'psgi.input'}->read(my $all, 1e6); [201, ['Content-Type', 'text/plain'], ['hello']] }";
    Site::new()
        .file("app.psgi", app)
        .file("htdocs/plain.txt", "plain")
        .serve("ServerName www.example\nCustomLog access.json json\n<Location /app>\nPsgiApp app.psgi\n</Location>")
}

fn line(server: &Server, number: usize) -> Value {
    let text = eventually("the request is logged", || {
        server.site.has("access.json").then(|| server.site.read("access.json"))?.lines().nth(number).map(str::to_owned)
    });
    assert!(!text.contains(|c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}')), "{text:?}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_request_is_an_object_a_line() {
    let server = serve();
    let request = Request::get("/app/x?a=1%22").header("User-Agent", "b\"ot\\ \u{202e}").header("Referer", "http://x/");
    server.send(request).is(201);
    let entry = line(&server, 0);
    for (field, value) in [
        ("client", "127.0.0.1"),
        ("server", "www.example"),
        ("method", "GET"),
        ("target", "/app/x?a=1%22"),
        ("protocol", "HTTP/1.1"),
        ("referer", "http://x/"),
        ("user_agent", "b\"ot\\ \u{202e}"),
    ] {
        assert_eq!(entry[field], value, "{entry}");
    }
    assert_eq!(
        (&entry["status"], &entry["body_bytes"], &entry["tls"]),
        (&201.into(), &5.into(), &false.into()),
        "{entry}"
    );
    let number = |field: &str| entry[field].as_u64().unwrap_or_else(|| panic!("{field}: {entry}"));
    assert!(number("sent_bytes") > 5 && number("received_bytes") > 50 && number("duration_us") >= number("queue_us"));
    assert!(number("cpu_us") > 0 && server.workers().iter().any(|(pid, _)| *pid as u64 == number("pid")), "{entry}");
    assert!(entry.get("user").is_none(), "what is not known has no field: {entry}");
    let time = entry["time"].as_str().expect("a time");
    assert!(chrono::DateTime::parse_from_rfc3339(time).is_ok() && time.ends_with('Z'), "{time}");
}

#[test]
fn requests_without_a_worker_and_unreadable_ones_are_objects_too() {
    let server = serve();
    server.get("/plain.txt").is(200);
    let file = line(&server, 0);
    assert!(file.get("worker").is_none() && file.get("queue_us").is_none(), "{file}");
    let mut connection = server.connect();
    connection.raw("GET /\u{1b}[2J \"x HTTP/9.9\r\n\r\n");
    connection.rest();
    let wrong = line(&server, 1);
    assert_eq!(wrong["status"], 505, "{wrong}");
    assert!(wrong.get("method").is_none() && wrong["connection"] != "kept", "{wrong}");
}

/// The line of the error log that contains `what`.
fn complaint(server: &Server, what: &str) -> Value {
    let line = server.logged(what);
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn an_error_and_its_request_have_one_name() {
    let server = Site::new().file("app.psgi", "sub { warn qq{odd \\e[2J\\n}; [200, [], ['hello']] }").serve(
        "ErrorLogFormat json\nCustomLog access.json json\nLogFormat \"%L %s\" named\nCustomLog named.log named\n\
         <Location />\nPsgiApp app.psgi\n</Location>",
    );
    server.get("/page?q=1").is(200);
    let (entry, error) = (line(&server, 0), complaint(&server, "odd"));
    assert_eq!((&entry["log"], &error["log"]), (&"access".into(), &"error".into()));
    assert_eq!(error["message"], "odd \u{1b}[2J", "{error}");
    for field in ["request_id", "worker", "pid", "method"] {
        assert_eq!(entry[field], error[field], "{field}: {entry} {error}");
    }
    assert_eq!((&error["path"], &error["level"], &error["module"]), (&"/page".into(), &"error".into(), &"perl".into()));
    let name = entry["request_id"].as_str().expect("a name");
    until("the other log has it, too", || server.site.read("named.log") == format!("{name} 200\n"));
    server.get("/page").is(200);
    assert_ne!(line(&server, 1)["request_id"], entry["request_id"]);
}

#[test]
fn all_processes_write_objects() {
    let server = Site::new()
        .file("app.psgi", "sub { [200, [], ['hello']] }")
        .serve("LogLevel info\nErrorLogFormat json\nSlowLog 5s\n<Location />\nPsgiApp app.psgi\n</Location>");
    server.get("/").is(200);
    server.reload().succeeded();
    let log = server.log();
    let objects =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("no object: {line}")));
    let modules: Vec<Value> = objects.map(|object| object["module"].clone()).collect();
    assert!(modules.contains(&"master".into()), "{log}");
}

#[test]
fn httpds_error_log_formats_are_ignored_with_a_warning() {
    let server = Site::new().serve("ErrorLogFormat \"[%t] %M\"");
    assert!(server.logged("ErrorLogFormat").contains("ignored except for `json`"));
}
