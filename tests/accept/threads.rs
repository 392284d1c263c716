//! Several threads of the front: limits hold for all threads together, and a client cannot see which thread serves it.

use std::fs;
use std::thread::spawn;

use crate::support::{Connection, Load, Request, Server, Site, until};

const ECHO: &str = "package Echo;\nuse Apache::Constants qw(OK);\n\
    sub handler { my $r = shift; my $body = ''; $r->read($body, $r->header_in('Content-Length') || 0);\n\
    if ($r->uri =~ /slow/) { select undef, undef, undef, 0.01 until -e '@DIR@/go' }\n\
    $r->send_http_header('text/plain'); $r->print($r->uri, ' ', $r->args, ' ', $body); OK }\n1;\n";

fn serve(threads: &str, conf: &str) -> Server {
    let site = Site::new().file("lib/Echo.pm", ECHO).file("htdocs/page", "a page");
    site.serve(&conf_with(threads, conf))
}

fn conf_with(threads: &str, conf: &str) -> String {
    format!(
        "FrontThreads {threads}\nMaxClients 3\nStartServers 3\nPerlLib lib\nPerlModule Echo\n\
         <Location /echo>\nSetHandler perl-script\nPerlHandler Echo\n{conf}\n</Location>\n"
    )
}

fn front(server: &Server) -> i64 {
    server.status()["front_pid"].as_i64().expect("the front has a number")
}

/// Number of the front's threads that serve connections, without the first.
fn further_threads(server: &Server) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", front(server))).expect("our own process").flatten();
    let names = tasks.map(|task| fs::read_to_string(task.path().join("comm")).unwrap_or_default());
    names.filter(|name| name.starts_with("front-")).count()
}

fn connections(server: &Server, count: usize) -> Vec<Connection> {
    (0..count).map(|_| server.connect()).collect()
}

#[test]
fn each_client_gets_its_own_answers_whichever_thread_and_worker_it_has() {
    let server = serve("4", "");
    assert_eq!(further_threads(&server), 3);
    let clients = (0..16).map(|client| {
        let mut connection = server.connect();
        spawn(move || {
            for turn in 0..200 {
                let target = format!("/echo/{client}?{turn}");
                let answer = connection.ask(Request::post(&target, &format!("body={client}.{turn}")));
                assert_eq!(answer.text(), format!("/echo/{client} {turn} body={client}.{turn}"));
                assert_eq!(connection.ask(Request::get("/page")).text(), "a page");
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    clients.into_iter().for_each(|client| client.join().expect("every answer is right"));
    let status = server.status();
    assert_eq!(status["front"]["requests"].as_u64(), Some(16 * 400), "{status}");
}

#[test]
fn connections_of_one_client_are_counted_over_all_threads() {
    let server = serve("4", "</Location>\nMaxConnectionsPerClient 5\n<Location /none>");
    let mut five = connections(&server, 5);
    five.iter_mut().for_each(|connection| drop(connection.ask(Request::get("/page")).is(200)));
    server.connect().response().is(503);
    drop(five.pop());
    until("the place is free again", || {
        server.connect().try_ask(&Request::get("/page")).is_ok_and(|page| page.status == 200)
    });
}

#[test]
fn requests_under_way_are_counted_over_all_threads() {
    let server = serve("4", "MaxConcurrentReqs 2");
    let mut all = connections(&server, 3);
    all.iter_mut().for_each(|connection| connection.raw("GET /echo/slow HTTP/1.1\r\nHost: a\r\n\r\n"));
    until("all three are read", || server.status()["front"]["requests"].as_u64() == Some(3));
    server.site.write("go", "");
    let mut answers: Vec<u16> = all.iter_mut().map(|connection| connection.response().status).collect();
    answers.sort_unstable();
    assert_eq!(answers, [200, 200, 503]);
}

#[test]
fn the_speed_of_a_client_is_counted_over_all_threads() {
    let server = serve("4", "SpeedLimit requests=5/1m");
    let mut all = connections(&server, 8);
    let count = |status: u16, all: &mut Vec<Connection>| {
        let answers = all.iter_mut().map(|connection| connection.ask(Request::get("/echo/x")).status);
        answers.filter(|answer| *answer == status).count()
    };
    assert_eq!(count(200, &mut all), 5);
    assert_eq!(count(429, &mut all), 8);
}

#[test]
fn a_reload_may_change_the_number_of_threads_and_loses_no_request() {
    let server = serve("1", "");
    let load = Load::start(&server, 8, "/echo/x?y", |answer| answer.text() == "/echo/x y ");
    for threads in ["4", "2", "1", "3"] {
        load.until_answered(200);
        server.site.configure(&conf_with(threads, ""));
        server.reload().succeeded();
    }
    load.until_answered(200);
    assert_eq!(load.failures(), [""; 0]);
    assert_eq!(further_threads(&server), 3, "those that are not wanted any more stay, without new connections");
}

#[test]
fn an_upload_that_began_before_a_reload_is_answered() {
    for threads in ["1", "3"] {
        let server = serve(threads, "");
        let mut uploads = connections(&server, 4);
        for upload in &mut uploads {
            upload.raw("POST /echo/up HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12345");
        }
        until("the requests are read", || server.status()["front"]["requests"].as_u64() == Some(4));
        server.reload().succeeded();
        let old = || server.status()["generations"][0]["workers"].as_u64();
        until("the old generation has one worker left", || old() == Some(1));
        for upload in &mut uploads {
            upload.raw("67890");
            assert_eq!(upload.response().text(), "/echo/up  1234567890");
        }
        let generations = || server.status()["generations"].as_array().map(Vec::len);
        until("the old generation has gone", || generations() == Some(1));
    }
}

#[test]
fn a_stop_waits_for_the_answers_of_all_threads() {
    let mut server = serve("3", "");
    let mut all = connections(&server, 3);
    all.iter_mut().for_each(|connection| connection.raw("GET /echo/slow?z HTTP/1.1\r\nHost: a\r\n\r\n"));
    until("workers have them", || server.status()["front"]["worker_requests"].as_u64() == Some(3));
    server.signal(nix::sys::signal::Signal::SIGTERM);
    until("nobody is let in any more", || Connection::open(&server.address).is_err());
    server.site.write("go", "");
    for connection in &mut all {
        assert_eq!(connection.response().text(), "/echo/slow z ");
    }
    assert_eq!(server.wait(), 0);
}
