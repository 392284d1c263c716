//! Files whose opening may wait for a disk or another machine are opened on another thread. The kernel looks up names
//! in /proc/sys again each time, as on a network file system. A lookup that must not wait always fails there.

use std::fs;

use crate::support::{Request, Server, Site};

/// A site where `/kernel` leads to /proc/sys/kernel.
#[track_caller]
fn serve(conf: &str) -> Server {
    let alias = "Alias /kernel /proc/sys/kernel\n<Directory /proc/sys/kernel>\nAllow from all\n";
    Site::new()
        .file("htdocs/page", "page")
        .serve(&format!("{alias}DirectoryIndex none.html ostype\n{conf}\n</Directory>"))
}

/// Number of the front's threads that wait for disks.
#[track_caller]
fn threads_aside(server: &Server) -> usize {
    threads(server, "cameleer-aside")
}

/// Number of the front's threads whose name begins with `name`.
#[track_caller]
pub fn threads(server: &Server, name: &str) -> usize {
    let front = server.status()["front_pid"].as_i64().expect("the front has a number");
    let threads = fs::read_dir(format!("/proc/{front}/task")).expect("the front runs");
    let names = threads.flatten().map(|thread| fs::read_to_string(thread.path().join("comm")).unwrap_or_default());
    names.filter(|thread| thread.starts_with(name)).count()
}

#[test]
fn cached_files_are_opened_at_once_and_others_on_a_thread() {
    let server = serve("");
    server.get("/page").is(200);
    assert_eq!(threads_aside(&server), 0);
    server.get("/kernel/ostype").is(200);
    assert_ne!(threads_aside(&server), 0);
}

#[test]
fn every_target_of_a_path_is_found_on_a_thread_as_well() {
    for options in ["FollowSymLinks", "SymLinksIfOwnerMatch", "None"] {
        let server = serve(&format!("Options {options}"));
        for _ in 0..2 {
            server.get("/kernel/ostype").is(200);
            server.get("/kernel/none").is(404);
            server.get("/kernel/none/deeper/still").is(404);
            server.get("/kernel/ostype/deeper").is(404);
            server.get("/kernel").is(301);
            server.get("/kernel/").is(200);
            server.get("/kernel/random/").is(403);
        }
    }
    let server = serve("Options Indexes\nAcceptPathInfo On");
    assert!(server.get("/kernel/random/").is(200).text().contains("uuid"));
    server.get("/kernel/ostype/deeper").is(200);
}

/// Lookups of precompressed files, and of the file of a Perl handler.
#[test]
fn other_lookups_are_made_on_a_thread() {
    let server = serve("PrecompressedFiles On");
    let response = server.send(Request::get("/kernel/ostype").header("Accept-Encoding", "br, gzip")).is(200);
    assert_eq!(response.header("content-encoding"), None);
    let server = serve(
        "Options None\n</Directory>\n<Directory /proc/sys/kernel>\nSetHandler perl-script\nPerlHandler 'sub { $_[0]->print($_[0]->filename); 0 }'",
    );
    assert_eq!(server.get("/kernel/ostype").is(200).text(), "/proc/sys/kernel/ostype");
}

/// Eight clients at the same time, each with several lookups per request.
#[test]
fn concurrent_clients_get_their_own_files() {
    let server = serve("Options SymLinksIfOwnerMatch");
    std::thread::scope(|scope| {
        for client in 0..8 {
            let server = &server;
            scope.spawn(move || {
                let mut connection = server.connect();
                for round in 0..50 {
                    let (target, status) =
                        [("/kernel/ostype", 200), ("/kernel/none/x", 404), ("/page", 200)][(client + round) % 3];
                    connection.ask(Request::get(target)).is(status);
                }
            });
        }
    });
}
