//! `TraceExport`

use super::collector::{Collector, Exported};
use crate::support::{Request, Server, Site, until};

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const APP: &str = "use DBI; my $dbh;\n\
    sub { my $env = shift; $dbh ||= DBI->connect('dbi:SQLite:dbname=:memory:', '', '', {RaiseError => 1, PrintError => 0});\n\
    my $path = $env->{PATH_INFO};\n\
    if ($path eq '/db') { $dbh->do(q{create table if not exists t (name text, age int)});\n\
    $dbh->do(q{insert into t values ('Ana O''Neil', 42)}); my $asked = $dbh->prepare('select * from t where age = 7 and name = ?');\n\
    $asked->execute('Ben'); $asked->fetchall_arrayref; eval { $dbh->do('nonsense 99') } }\n\
    die 'wrong' if $path eq '/die'; [200, [], ['done']] }\n";

fn serve(collector: &str, more: &str) -> Server {
    let handler = "package My::Phases; sub access { 0 } sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('x'); 0 } 1;\n";
    Site::new().file("app.psgi", APP).file("lib/My/Phases.pm", handler).file("htdocs/a.txt", "file").serve(&format!(
        "MaxClients 2\nPerlLib lib\nTraceExport {collector}\nTraceService shop\n{more}\nServerName www.example\n\
         <Location /app>\nPsgiApp app.psgi\n</Location>\n\
         <Location /phases>\nSetHandler perl-script\nPerlAccessHandler My::Phases::access\nPerlHandler My::Phases\n</Location>"
    ))
}

#[track_caller]
fn named<'a>(spans: &'a [Exported], name: &str) -> &'a Exported {
    let names: Vec<&str> = spans.iter().map(|one| &*one.span.name).collect();
    spans.iter().find(|one| one.span.name == name).unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

/// A handler's span may end after its request's: the client has its response before the worker is done.
fn is_below(child: &Exported, parent: &Exported) -> bool {
    child.span.parent_span_id == parent.span.span_id
        && child.span.trace_id == parent.span.trace_id
        && child.span.start_time_unix_nano >= parent.span.start_time_unix_nano
        && child.span.end_time_unix_nano >= child.span.start_time_unix_nano
}

#[test]
fn a_request_is_a_span_with_its_queue_and_its_handler_below() {
    let collector = Collector::start(false);
    let server = serve(&format!("http://{}", collector.address), "");
    let request = Request::get("/app/x?secret=1").header("Traceparent", CALLER).header("User-Agent", "robot");
    server.send(request).is(200);
    let spans = collector.spans(3);
    let (own, queue, handler) = (named(&spans, "GET"), named(&spans, "queue"), named(&spans, "handler"));
    assert_eq!(own.service, "shop");
    let id = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!((id(&own.span.trace_id), id(&own.span.parent_span_id)), (CALLER[3..35].into(), CALLER[36..52].into()));
    assert!(is_below(queue, own) && is_below(handler, own), "{spans:#?}");
    assert!(queue.span.end_time_unix_nano <= handler.span.start_time_unix_nano);
    for (name, value) in [
        ("http.request.method", "GET"),
        ("url.path", "/app/x"),
        ("url.scheme", "http"),
        ("server.address", "localhost"),
        ("client.address", "127.0.0.1"),
        ("network.protocol.version", "1.1"),
        ("http.response.status_code", "200"),
        ("user_agent.original", "robot"),
    ] {
        assert_eq!(own.attributes.get(name).map(String::as_str), Some(value), "{name}: {own:?}");
    }
    assert!(!format!("{spans:?}").contains("secret"), "a query may have what is nobody's business");
    let pid: i32 = handler.attributes["process.pid"].parse().expect("a number");
    assert!(server.workers().iter().any(|(worker, _)| *worker == pid));
}

#[test]
fn statements_of_databases_are_spans_without_their_values() {
    let collector = Collector::start(true);
    let server = serve(&format!("grpc://{}", collector.address), "");
    server.get("/app/db").is(200);
    let spans = collector.spans(8);
    let handler = named(&spans, "handler");
    let statements: Vec<(&str, &str)> = spans
        .iter()
        .filter(|one| one.span.name.starts_with("DBI::"))
        .map(|one| {
            assert!(is_below(one, handler), "{one:?} {handler:?}");
            (&*one.span.name, one.attributes.get("db.query.text").map_or("", String::as_str))
        })
        .collect();
    let all = "select * from t where age = ? and name = ?";
    let wanted = [
        ("DBI::db::do", "create table if not exists t (name text, age int)"),
        ("DBI::db::do", "insert into t values (??, ?)"),
        ("DBI::db::prepare", all),
        ("DBI::st::execute", all),
        ("DBI::st::fetchall_arrayref", all),
        ("DBI::db::do", "nonsense ?"),
    ];
    assert_eq!(statements, wanted);
}

#[test]
fn handlers_of_phases_are_spans() {
    let collector = Collector::start(false);
    let server = serve(&format!("http://{}", collector.address), "");
    server.get("/phases").is(200);
    let spans = collector.spans(5);
    let handler = named(&spans, "handler");
    assert!(
        ["PerlAccessHandler", "PerlHandler"].iter().all(|name| is_below(named(&spans, name), handler)),
        "{spans:?}"
    );
}

#[test]
fn files_and_errors_are_spans_too() {
    let collector = Collector::start(false);
    let server = serve(&format!("http://{}", collector.address), "");
    server.get("/a.txt").is(200);
    server.get("/app/die").is(500);
    let spans = collector.spans(4);
    let of = |path: &str| {
        spans.iter().find(|one| one.attributes.get("url.path").is_some_and(|p| p == path)).expect("a span")
    };
    assert_eq!(of("/a.txt").attributes["http.response.status_code"], "200");
    assert_eq!(of("/app/die").span.status.as_ref().map(|status| status.code), Some(2), "an error");
}

#[test]
fn spans_that_are_not_sampled_are_not_sent() {
    let collector = Collector::start(false);
    let server = serve(&format!("http://{}", collector.address), "TraceSample 0");
    server.get("/app/none").is(200);
    server.send(Request::get("/app/not").header("Traceparent", CALLER.replace("-01", "-00").as_str())).is(200);
    server.send(Request::get("/app/sampled").header("Traceparent", CALLER)).is(200);
    let spans = collector.spans(3);
    let paths: Vec<&String> = spans.iter().filter_map(|one| one.attributes.get("url.path")).collect();
    assert_eq!(paths, ["/app/sampled"]);
}

#[test]
fn a_missing_collector_delays_no_request() {
    let server = serve("http://127.0.0.1:1", "");
    for _ in 0..20 {
        server.get("/app/x").is(200);
    }
    until("the loss of spans is logged", || server.log().contains("TraceExport: 127.0.0.1:1: spans of "));
}

#[test]
fn a_silent_collector_delays_no_request() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let server = serve(&format!("http://{}", silent.local_addr().expect("an address")), "");
    for _ in 0..3000 {
        server.get("/a.txt").is(200);
    }
    until("the loss of spans is logged", || server.log().contains("are lost: the collector does not answer"));
}

#[test]
fn addresses_that_are_none_are_refused() {
    let site = Site::new();
    for wrong in ["https://collector", "collector:4318", "http://"] {
        site.configure(&format!("\nTraceExport {wrong}"));
        site.cameleer(["check", "-f", "site.conf"])
            .failed(78, "site.conf:2: TraceExport: expected off, http://host:port");
    }
}
