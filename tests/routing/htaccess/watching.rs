//! The folders that the front watches, and its behaviour when it cannot watch.

use std::fs;
use std::process::Command;

use nix::sys::signal::Signal;

use super::{serve, serve_allowing, soon};
use crate::support::{Request, Server, Site, signal, until};

fn front(server: &Server) -> i32 {
    server.status()["front_pid"].as_i64().expect("the front has a number") as i32
}

/// Number of folders that the front watches, for each inotify instance.
fn watched(server: &Server) -> Vec<usize> {
    let front = front(server);
    let files = fs::read_dir(format!("/proc/{front}/fd")).expect("our own process").flatten();
    let inotify = files.filter(|file| fs::read_link(file.path()).is_ok_and(|to| to.ends_with("anon_inode:inotify")));
    let info =
        inotify.map(|file| fs::read_to_string(format!("/proc/{front}/fdinfo/{}", file.file_name().to_string_lossy())));
    info.map_while(Result::ok).map(|text| text.lines().filter(|line| line.starts_with("inotify wd:")).count()).collect()
}

#[test]
fn no_folder_is_watched_without_allow_override() {
    let server = serve_allowing("None", Site::new().file("htdocs/.htaccess", "Nonsense"), "");
    assert_eq!(server.text("/a/b"), "conf");
    assert!(watched(&server).is_empty());
}

#[test]
fn each_folder_on_the_way_is_watched_once_and_let_go_with_its_generation() {
    let server = serve(Site::new().file("htdocs/a/b/page", ""), "FrontThreads 1");
    for target in ["/a/b/page", "/a/b/other", "/a/c", "/none/x/y"] {
        server.get(target).is(200);
    }
    let folders = server.site.path("htdocs/a/b").components().count();
    assert_eq!(watched(&server), [folders]);
    server.reload().succeeded();
    assert_eq!(server.text("/a/b/page"), "conf");
    until("the old generation's watches are gone", || watched(&server) == [folders]);
}

#[test]
fn a_thread_that_has_nothing_to_do_lets_go_of_a_generation_that_is_over() {
    let server = serve(Site::new().file("htdocs/a/page", ""), "FrontThreads 3");
    let mut connections: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for connection in &mut connections {
        connection.ask(Request::get("/a/page")).is(200);
    }
    let busy = || watched(&server).into_iter().filter(|folders| *folders > 0).count();
    assert_eq!(busy(), 3, "each thread has its own");
    server.reload().succeeded();
    // A persistent connection keeps the configuration of its start.
    drop(connections);
    server.get("/a/page").is(200);
    until("only the thread that was asked watches", || busy() == 1);
}

#[test]
fn folders_that_cannot_be_watched_are_looked_at_every_second() {
    let site = Site::new().file("htdocs/a/page", "").file("lib/Show.pm", super::SHOW);
    site.configure(
        "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule Show\n<Directory @DIR@/htdocs>\nAllowOverride All\n\
         SetHandler perl-script\nPerlHandler Show\nPerlSetVar X conf\n</Directory>",
    );
    let command = with_few_watches(&site);
    let server = Server::start(site, command);
    assert_eq!(server.text("/a/page"), "conf");
    server.logged("folders that cannot be watched are checked for .htaccess files once a second:");
    let seen = |text: &str| {
        until(&format!("{text} is seen"), || server.text("/a/page") == text);
    };
    server.site.write("htdocs/a/.htaccess", "PerlSetVar X new");
    seen("new");
    server.site.write("htdocs/a/.htaccess", "PerlSetVar X edited");
    seen("edited");
    fs::rename(server.site.path("htdocs/a"), server.site.path("htdocs/b")).expect("renamed");
    seen("conf");
    assert_eq!(server.text("/b/page"), "edited");
    assert_eq!(server.log().matches("fs.inotify.max_user_watches").count(), 1, "it is said once");
}

/// The command that serves `site` with a limit of two inotify watches.
fn with_few_watches(site: &Site) -> Command {
    let plain = site.serve_command();
    let mut command = Command::new("unshare");
    command.args(["-Ur", "sh", "-c", "echo 2 > /proc/sys/user/max_inotify_watches && exec \"$@\"", "sh"]);
    command.arg(plain.get_program()).args(plain.get_args()).current_dir(site.folder());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn a_change_takes_effect_although_its_inotify_event_is_lost() {
    let server = serve(Site::new().file("htdocs/a/page", ""), "");
    assert_eq!(server.text("/a/page"), "conf");
    let kept: usize =
        fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("Linux").trim().parse().expect("a number");
    let front = front(&server);
    signal(front, Signal::SIGSTOP);
    // Each write produces two events: modify, and close.
    for n in 0..kept / 2 + 1 {
        fs::write(server.site.path(&format!("htdocs/a/{}", n % 2)), "x").expect("written");
    }
    server.site.write("htdocs/a/.htaccess", "PerlSetVar X new");
    signal(front, Signal::SIGCONT);
    soon(&server, "/a/page", "new");
}
