//! Limits on connections in total and per client, and a front without free descriptors.

use std::time::Duration;

use super::{OK, serve};
use crate::support::{Connection, Request, Server, Site, cpu_time, let_pass, until};

/// An idle keep-alive connection that has had one response.
#[track_caller]
fn kept(server: &Server) -> Connection {
    let mut connection = server.connect();
    connection.ask(Request::get("/"));
    connection
}

#[test]
fn a_new_connection_takes_the_place_of_the_one_that_was_idle_for_longest() {
    let server = serve(OK, "MaxConnections 40\nKeepAliveTimeout 60s");
    let mut idle: Vec<Connection> = (0..40).map(|_| kept(&server)).collect();
    assert_eq!(server.text("/"), "ok");
    idle[0].is_closed();
    let mut youngest = idle.pop().expect("forty");
    assert_eq!(youngest.ask(Request::get("/")).text(), "ok", "others stay");
}

#[test]
fn a_further_connection_gets_503_when_none_is_idle() {
    let server = serve(OK, "MaxConnections 5");
    let busy: Vec<Connection> = (0..5).map(|_| half_asked(&server)).collect();
    until("all five are let in", || server.status()["front"]["connections"] == 5);
    let mut sixth = server.connect();
    assert_eq!(sixth.response().is(503).header("retry-after").as_deref(), Some("2"));
    sixth.is_closed();
    server.logged("5 connections are open and none is idle");
    drop(busy);
    until("there is room again", || server.connect().try_ask(&Request::get("/")).is_ok_and(|r| r.status == 200));
}

fn half_asked(server: &Server) -> Connection {
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\n");
    connection
}

#[test]
fn connections_of_a_client_are_limited_with_one_log_line_a_minute() {
    let server = serve(OK, "MaxConnectionsPerClient 3\nKeepAliveTimeout 60s");
    let as_client =
        |ip: &str| Connection::open_as(ip.parse().expect("an address"), server.site.port).expect("accepted");
    let mut three: Vec<Connection> = (0..3).map(|_| as_client("127.0.0.9")).collect();
    for connection in &mut three {
        assert_eq!(connection.ask(Request::get("/")).text(), "ok");
    }
    for _ in 0..5 {
        assert_eq!(as_client("127.0.0.9").response().status, 503);
    }
    assert_eq!(as_client("127.0.0.10").ask(Request::get("/")).text(), "ok", "another client");
    let lines = server.log().lines().filter(|line| line.contains("MaxConnectionsPerClient")).count();
    assert_eq!(lines, 1, "{}", server.log());
    drop(three);
    until("its places are free again", || {
        as_client("127.0.0.9").try_ask(&Request::get("/")).is_ok_and(|r| r.status == 200)
    });
}

/// A server whose processes each have a hard limit of `files` open files.
fn serve_with_files(files: u32, conf: &str) -> Server {
    let site = Site::new().file("app.psgi", OK);
    site.configure(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"));
    Server::start_with_files(site, files)
}

#[test]
#[ignore = "measures time: `make timing`"]
fn a_front_without_descriptors_neither_spins_nor_stays_ill() {
    let server = serve_with_files(120, "KeepAliveTimeout 60s");
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    let crowd: Vec<Connection> = (0..300).map(|_| half_asked(&server)).collect();
    server.logged("none is idle");
    let before = cpu_time(front);
    let_pass(Duration::from_secs(2));
    let used = cpu_time(front) - before;
    assert!(used < Duration::from_millis(300), "{used:?} of CPU in two seconds");
    drop(crowd);
    until("the server accepts clients again", || {
        server.connect().try_ask(&Request::get("/")).is_ok_and(|response| response.status == 200)
    });
}

#[test]
fn a_file_for_which_there_is_no_descriptor_left_is_a_503_and_the_server_is_well_afterwards() {
    let server = serve_with_files(120, "<Location /files>\nSetHandler default-handler\n</Location>");
    server.site.write_bytes("htdocs/files/large.bin", &vec![b'x'; 16 << 20]);
    let mut readers: Vec<Connection> = (0..60).map(|_| server.connect()).collect();
    for reader in &mut readers {
        reader.raw("GET /files/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    let answers: Vec<u16> = readers.iter_mut().map(|reader| reader.head().status).collect();
    let count = |status| answers.iter().filter(|answer| **answer == status).count();
    assert!(count(200) > 10 && count(503) > 0 && count(200) + count(503) == 60, "{answers:?}");
    drop(readers);
    until("the server accepts clients again", || {
        let answer = server.connect().try_ask(&Request::get("/files/large.bin").header("Range", "bytes=0-9"));
        answer.is_ok_and(|response| response.status == 206)
    });
}

#[test]
fn a_burst_of_1500_connections_is_served() {
    // On a busy machine the requests may arrive so slowly that they count as overload. `QueueStale 0` turns that off.
    let server = serve(OK, "QueueStale 0");
    let mut burst: Vec<Connection> = (0..1500).map(|_| server.connect()).collect();
    for connection in &mut burst {
        connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    }
    let mut answers = std::collections::BTreeMap::new();
    for mut connection in burst {
        *answers.entry(connection.response().status).or_insert(0) += 1;
    }
    assert_eq!(answers, [(200, 1500)].into());
}
