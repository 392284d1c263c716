//! Files that root writes into folders of other users.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use nix::sys::signal::Signal;

use crate::support::{Finished, Site, until};

const NOBODY: u32 = 65534;
const IMPORTANT: &str = "root only, important\n";

/// A site with a folder owned by nobody, in which `name` is a symbolic link to a file of root's.
fn site(name: &str) -> Site {
    let site = Site::new().file("victim", IMPORTANT).file("run/.about", "");
    fs::set_permissions(site.path("victim"), Permissions::from_mode(0o600)).expect("our own file");
    symlink(site.path("victim"), site.path(&format!("run/{name}"))).expect("a link");
    chown(site.path("run"), Some(NOBODY), Some(NOBODY)).expect("root may");
    site
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[test]
fn a_pid_file_in_a_folder_of_another_user_is_not_written() {
    if !is_root() {
        return;
    }
    for mode in [0o755, 0o777] {
        let site = site("pid");
        fs::set_permissions(site.path("run"), Permissions::from_mode(mode)).expect("root may");
        let mut server = site.serve("PidFile run/pid");
        server.get("/none").is(404);
        server.signal(Signal::SIGTERM);
        server.wait();
        assert_eq!(server.site.read("victim"), IMPORTANT);
        assert!(server.site.path("run/pid").is_symlink());
        let log = server.site.read("err.txt") + &server.site.read("error.log");
        assert!(log.contains("run/pid: not written: the folder ") && log.contains("belongs to user 65534"), "{log}");
    }
}

#[test]
fn no_link_is_followed_to_a_log_in_a_folder_of_another_user() {
    if !is_root() {
        return;
    }
    for (name, line) in [("log", "ErrorLog run/log"), ("log", "CustomLog run/log common")] {
        let site = site(name);
        site.configure(line);
        let finished = Finished::of(&mut site.serve_command());
        assert_ne!(finished.code, 0, "{finished:?}");
        assert!(finished.err.contains("cannot open") && finished.err.contains("run/log for writing"), "{finished:?}");
        assert_eq!(site.read("victim"), IMPORTANT);
    }
    let server = site("other").serve("CustomLog run/access.log common");
    server.get("/none").is(404);
    until("a plain file is written", || server.site.read("run/access.log").contains("404"));
    let log = server.site.read("err.txt") + &server.site.read("error.log");
    assert!(log.contains("run/access.log: the folder "), "{log}");
}

#[test]
fn a_log_link_in_a_folder_of_root_is_followed() {
    let site = Site::new().file("logs/real.log", "");
    symlink("real.log", site.path("logs/access.log")).expect("a link");
    let server = site.serve("CustomLog logs/access.log common");
    server.get("/none").is(404);
    until("the log is written", || server.site.read("logs/real.log").contains("404"));
}

#[test]
fn a_control_socket_in_a_folder_of_another_user_is_refused() {
    if !is_root() {
        return;
    }
    let site = site("other");
    site.configure("ControlSocket run/control.sock");
    Finished::of(&mut site.serve_command()).failed(1, "run/control.sock: the folder ");
}
