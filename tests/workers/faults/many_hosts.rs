//! A thousand virtual hosts with a log file each: more descriptors than the kernel passes in one message, and a long
//! configuration.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::support::{Finished, Request, Server, Site, until};

const HOSTS: usize = 1000;
const APP: &str = "sub { warn \"a line\\n\" if $_[0]{PATH_INFO} eq '/warn'; open my $f, '<', '/dev/null';
    [200, [], [fileno $f < 64 ? $_[0]{SERVER_NAME} : 'descriptors of ours are in the way']] }";

fn conf() -> String {
    let mut conf = "UseCanonicalName On\n<Location />\nPsgiApp app.psgi\n</Location>\n".to_owned();
    for host in 0..HOSTS {
        let _ = writeln!(
            conf,
            "<VirtualHost *>\nServerName h{host}\nErrorLog logs/{host}.error\nCustomLog logs/{host}.access common\n</VirtualHost>"
        );
    }
    conf
}

fn site() -> Site {
    let site = Site::new().file("app.psgi", APP);
    fs::create_dir_all(site.path("logs")).expect("a folder");
    site
}

fn ask(server: &Server, host: usize, path: &str) -> String {
    server.send(Request::get(path).header("Host", &format!("h{host}"))).is(200).text()
}

#[test]
fn a_thousand_hosts_with_their_own_logs_start_reload_and_open_them_anew() {
    let server = site().serve(&conf());
    let hosts = [0, 125, 252, 253, 500, HOSTS - 1];
    let answers = |path: &str| hosts.iter().for_each(|host| assert_eq!(ask(&server, *host, path), format!("h{host}")));
    let is_logged = |path: &str| {
        until(&format!("{path} is in each log"), || {
            let in_both = |host: &usize| {
                let (access, errors) = (format!("logs/{host}.access"), format!("logs/{host}.error"));
                server.site.read(&access).contains(path) && server.site.read(&errors).contains("a line")
            };
            hosts.iter().all(in_both)
        });
    };
    answers("/warn");
    is_logged("/warn");
    server.reload().succeeded();
    answers("/warn?reloaded");
    is_logged("reloaded");
    fs::rename(server.site.path("logs"), server.site.path("old")).expect("our own folder");
    fs::create_dir_all(server.site.path("logs")).expect("a folder");
    server.signal(Signal::SIGUSR1);
    until("the master has them", || server.site.has(&format!("logs/{}.error", HOSTS - 1)));
    until("the workers have them", || {
        answers("/warn?anew");
        hosts.iter().all(|host| server.site.read(&format!("logs/{host}.error")).contains("a line"))
    });
    is_logged("anew");
    assert_eq!(fs::read_dir(server.site.path("logs")).expect("a folder").count(), 2 * HOSTS);
    assert!(!server.log().contains("[master:error]"), "{}", server.log());
}

#[test]
fn a_low_limit_of_open_files_is_one_line_with_the_needed_number() {
    let site = site();
    site.configure(&conf());
    let serve = site.serve_command();
    let mut limited = Command::new("prlimit");
    limited.arg("--nofile=1500:1500").arg(serve.get_program()).args(serve.get_args()).current_dir(site.folder());
    let output = Finished::of(&mut limited);
    assert_eq!((output.code, output.err.lines().count()), (1, 1), "{output:?}");
    assert!(output.err.contains("2000 logs") && output.err.contains("1500 are allowed"), "{output:?}");
    assert!(output.err.contains("LimitNOFILE"), "{output:?}");
}
