//! `TraceContext`

use serde_json::Value;

use crate::support::{Request, Server, Site, eventually};

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn serve(more: &str) -> Server {
    let app = "sub { my $env = shift; [200, [], [join ' ', map { $env->{$_} // '-' } qw(HTTP_TRACEPARENT TRACE_ID)]] }";
    let handler = "package My::Handler; sub handler { my $r = shift; $r->send_http_header('text/plain');\n\
        $r->print(join ' ', $r->header_in('traceparent') // '-', $r->subprocess_env('TRACE_ID') // '-'); 0 } 1;\n";
    Site::new().file("app.psgi", app).file("lib/My/Handler.pm", handler).serve(&format!(
        "{more}\nPerlLib lib\nLogFormat \"%{{trace_id}}x\" traces\nCustomLog traces.log traces\nCustomLog access.json json\n\
         <Location />\nPsgiApp app.psgi\n</Location>\n\
         <Location /handler>\nSetHandler perl-script\nPerlHandler My::Handler\n</Location>"
    ))
}

#[test]
fn a_callers_trace_is_handed_to_programs_and_logs() {
    let server = serve("TraceContext on");
    for target in ["/", "/handler"] {
        let value = server.send(Request::get(target).header("Traceparent", CALLER)).is(200).text();
        let (header, id) = value.split_once(' ').expect("two words");
        assert_eq!((&header[..36], &header[52..], id), (&CALLER[..36], &CALLER[52..], &CALLER[3..35]), "{target}");
        assert_ne!(header, CALLER, "the parent is our span");
    }
    let log = eventually("the log", || Some(server.site.read("traces.log")).filter(|log| log.lines().count() == 2));
    assert!(log.lines().all(|line| line == &CALLER[3..35]), "{log}");
    let line: Value =
        eventually("a line", || serde_json::from_str(server.site.read("access.json").lines().next()?).ok());
    assert_eq!(line["trace_id"], CALLER[3..35]);
}

#[test]
fn an_event_worker_gets_the_servers_span_in_place_of_the_callers() {
    let app = "sub { my $env = shift; [200, [], [$env->{HTTP_TRACEPARENT} // '-']] }";
    let server = Site::new()
        .file("app.psgi", app)
        .serve("TraceContext on\nPsgiMode event\nStartServers 1\n<Location />\nPsgiApp @DIR@/app.psgi\n</Location>\n");
    let header = server.send(Request::get("/").header("Traceparent", CALLER)).is(200).text();
    assert_eq!((header.len(), &header[..36]), (CALLER.len(), &CALLER[..36]), "{header}");
    assert_ne!(header, CALLER, "the parent is our span");
}

#[test]
fn without_a_caller_each_request_begins_a_trace() {
    let server = serve("TraceContext on\nTraceSample 0%");
    let (one, two) = (server.text("/"), server.text("/"));
    assert_ne!(one[3..35], two[3..35]);
    for body in [one, two] {
        let (header, id) = body.split_once(' ').expect("two words");
        assert_eq!((&header[..3], &header[3..35], &header[52..]), ("00-", id, "-00"), "{body}");
    }
}

#[test]
fn a_malformed_traceparent_is_ignored() {
    let server = serve("TraceContext on");
    for wrong in ["00-short", &CALLER.to_uppercase(), &format!("{CALLER}-x"), &"1".repeat(8000)] {
        let value = server.send(Request::get("/").header("Traceparent", wrong)).is(200).text();
        assert_ne!(value[3..35], CALLER[3..35], "{wrong}");
        assert_eq!(value.len(), 55 + 1 + 32, "{value}");
    }
}

#[test]
fn without_the_directive_nothing_is_touched() {
    let server = serve("");
    assert_eq!(server.send(Request::get("/").header("Traceparent", CALLER)).text(), format!("{CALLER} -"));
    assert_eq!(server.text("/"), "- -");
    let log = eventually("the log", || Some(server.site.read("traces.log")).filter(|log| log.lines().count() == 2));
    assert_eq!(log, "-\n-\n");
}
