//! Sockets of Server::Starter: its variable, and Debian's `start_server` itself.

use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;

use nix::sys::signal::Signal;

use crate::support::{Connection, Finished, Request, Server, Site, until};

const APP: &str = "my $n = 'old'; sub { [200, [], [join ',', $n, grep { /SERVER_STARTER/ } sort keys %ENV]] }";

/// `cameleer run` with a listening socket as descriptor 7, which is not the first free one.
fn with_socket(site: &Site, listener: &impl AsFd, variable: &str) -> Command {
    let script = format!(
        "exec 7<&{}; export SERVER_STARTER_PORT='{variable}'; exec \"$0\" \"$@\"",
        listener.as_fd().as_raw_fd()
    );
    nix::fcntl::fcntl(listener, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).expect("inheritable");
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_cameleer"), "run", "--workers", "1", "app.psgi"]);
    command.current_dir(site.folder()).env("TMPDIR", site.path("tmp")).env_remove("PORT");
    command
}

#[test]
fn its_sockets_are_served_and_its_variables_stay_with_the_master() {
    let site = Site::new().file("app.psgi", APP);
    let listener = TcpListener::bind(("127.0.0.1", site.port)).expect("bound");
    let command = with_socket(&site, &listener, &format!("127.0.0.1:{}=7", site.port));
    let server = Server::start(site, command);
    drop(listener);
    assert_eq!(server.text("/"), "old");
}

#[test]
fn a_socket_that_does_not_listen_is_refused() {
    let site = Site::new().file("app.psgi", APP);
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("bound");
    let output = Finished::of(&mut with_socket(&site, &udp, "u443=7"));
    assert!(output.code != 0 && output.err.contains("the passed descriptor 7 is no listening socket"), "{output:?}");
}

#[test]
fn a_wrong_variable_is_named() {
    for (variable, expected) in [
        ("5000", "SERVER_STARTER_PORT: expected ADDRESS=DESCRIPTOR, got \"5000\""),
        ("5000=7;5001=7", "SERVER_STARTER_PORT: a descriptor is named twice"),
        ("5000=999", "SERVER_STARTER_PORT names descriptors that are not open"),
    ] {
        let site = Site::new().file("app.psgi", APP);
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let output = Finished::of(&mut with_socket(&site, &listener, variable));
        assert!(output.code != 0 && output.err.contains(expected), "{variable}: {output:?}");
    }
}

/// HUP of start_server starts a second server on the same socket, and then stops the first one.
#[test]
fn start_server_replaces_the_server_without_losing_a_request() {
    let site = Site::new().file("app.psgi", APP);
    let mut command = Command::new("start_server");
    command.args(["--port", &format!("127.0.0.1:{}", site.port), "--"]);
    command.args([env!("CARGO_BIN_EXE_cameleer"), "run", "--workers", "1", "app.psgi"]);
    command.current_dir(site.folder()).env("TMPDIR", site.path("tmp")).env_remove("PORT");
    let mut server = Server::start(site, command);
    assert_eq!(server.text("/"), "old");
    server.site.write("app.psgi", &APP.replace("old", "new"));
    server.signal(Signal::SIGHUP);
    // Each request has a connection of its own, which one of the two servers accepts.
    until("the new server answers", || {
        let mut connection = Connection::open(&server.address).expect("the socket never closes");
        let request = Request::get("/").header("Connection", "close");
        let response = connection.try_ask(&request).expect("no request is lost");
        assert_eq!(response.status, 200);
        response.text() == "new"
    });
    server.logged(" died, status:0");
    server.signal(Signal::SIGTERM);
    server.wait();
}
