//! Servers in several pid namespaces, such as containers, that share /run and folders. A pid of one namespace means
//! nothing in another.

use std::process::Command;

use crate::support::{Finished, Server, Site, alive, until};

const APP: &str = "sub { [200, [], ['ok']] }";

/// Runs `command` in a new pid namespace, below a shell that is process 1 there.
fn contained(command: &Command) -> Command {
    let mut contained = Command::new("unshare");
    contained.args(["--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", "\"$0\" \"$@\"; exit $?"]);
    contained.arg(command.get_program()).args(command.get_args());
    let environment = command.get_envs().map(|(name, value)| (name, value.unwrap_or_default()));
    contained.envs(environment).current_dir(command.get_current_dir().expect("the site's folder"));
    contained
}

/// `cameleer run` with a pid file, and its control socket at the default path.
fn run(site: &Site) -> Command {
    let listen = format!("127.0.0.1:{}", site.port);
    site.command(["run", "--workers", "1", "-l", &listen, "--pid", "run.pid", "app.psgi"])
}

#[test]
fn a_start_in_a_container_leaves_the_control_sockets_of_other_servers() {
    let site = Site::new().file("app.psgi", APP);
    let command = run(&site);
    let outside = Server::start(site, command);
    let site = Site::new().file("app.psgi", APP);
    let command = contained(&run(&site));
    let mut inside = Server::start(site, command);
    assert_eq!(outside.status()["pid"], outside.pid(), "it is still asked at its socket");
    inside.site.cameleer(["stop", "--pid-file", "run.pid"]).succeeded();
    assert_eq!(inside.wait(), 0);
    assert_eq!(outside.text("/"), "ok");
}

#[test]
fn a_site_that_is_served_in_another_container_is_not_started_twice() {
    let site = Site::new().file("app.psgi", APP);
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let command = site.serve_command();
    let server = Server::start(site, command);
    let output = Finished::of(&mut contained(&server.site.serve_command())).failed(1, "already running as process");
    assert!(output.err.contains("cameleer.pid"), "{output:?}");
    assert_eq!(server.site.read("cameleer.pid").trim(), server.pid().to_string());
    assert_eq!(server.text("/"), "ok");
    assert_eq!(server.status()["pid"], server.pid());
}

#[test]
fn two_containers_with_the_same_pids_are_distinguished_by_their_pid_files() {
    let start = || {
        let site = Site::new().file("app.psgi", APP);
        let command = contained(&run(&site));
        Server::start(site, command)
    };
    let (mut one, mut other) = (start(), start());
    let [number, same] = [&one, &other].map(|server| server.site.read("run.pid"));
    assert_eq!(number, same, "each counts from 1");
    other.site.cameleer(["stop", "--pid-file", "run.pid"]).succeeded();
    assert_eq!(other.wait(), 0);
    assert_eq!(one.text("/"), "ok", "the other one is a stranger");
    one.site.cameleer(["stop", "--pid-file", "run.pid"]).succeeded();
    assert_eq!(one.wait(), 0);
}

#[test]
fn a_pid_file_with_a_foreign_process_id_signals_no_process() {
    let site = Site::new();
    let mut stranger = Command::new("sleep").arg("60").spawn().expect("started");
    let pid = stranger.id() as i32;
    site.write("run.pid", &format!("{pid}\n"));
    for command in ["status", "reload", "stop"] {
        site.cameleer([command, "--pid-file", "run.pid"]).failed(1, "does not run or has another ControlSocket");
    }
    assert!(alive(pid));
    stranger.kill().expect("ours");
    stranger.wait().expect("ours");
}

#[test]
fn a_server_without_its_own_memory_figures_is_one_of_another_namespace() {
    let site = Site::new().file("app.psgi", APP);
    let command = contained(&run(&site));
    let mut inside = Server::start(site, command);
    let ask = || inside.site.cameleer(["status", "--pid-file", "run.pid"]).succeeded().out;
    until("its worker is idle", || ask().contains(" _ idle "));
    let response = ask();
    let worker = response.lines().find(|line| line.contains(" _ idle ")).expect("its worker");
    // Eight words precede the memory figure: slot, generation, pid, state (two), requests, duration (two).
    assert_eq!(worker.split_whitespace().nth(8), Some("-"), "its number means a stranger here: {response}");
    inside.site.cameleer(["stop", "--pid-file", "run.pid"]).succeeded();
    assert_eq!(inside.wait(), 0);
}

#[test]
fn a_pid_file_of_another_users_server_names_the_user() {
    if !nix::unistd::geteuid().is_root() {
        return; // only root can start a process of another user
    }
    let site = Site::new();
    let mut stranger =
        Command::new("setpriv").args(["--reuid=1", "--clear-groups", "sleep", "60"]).spawn().expect("setpriv");
    let pid = stranger.id();
    site.write("run.pid", &format!("{pid}\n"));
    until("setpriv has become the other user", || {
        std::fs::read_to_string(format!("/proc/{pid}/status")).is_ok_and(|status| status.contains("Uid:\t1\t1"))
    });
    let user = nix::unistd::User::from_uid(1.into()).ok().flatten().expect("Debian's daemon").name;
    for command in ["status", "reload", "stop"] {
        let output = site.cameleer([command, "--pid-file", "run.pid"]);
        output.failed(1, &format!("process {pid}, which run.pid names, belongs to {user}"));
    }
    stranger.kill().expect("ours");
    stranger.wait().expect("ours");
}
