//! `OpenFileCache`: files stay open for a second, and every change of such a file is noticed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::{Server, Site, until};

/// Serves as `nobody`, which needs access to the folder; folders of root may deny it.
#[track_caller]
fn serve(site: Site, conf: &str) -> Server {
    fs::set_permissions(site.folder(), fs::Permissions::from_mode(0o755)).expect("our own folder");
    site.serve(&format!("User nobody\nGroup nogroup\n{conf}"))
}

/// Number of descriptors of the front that refer to this file.
#[track_caller]
fn times_open(server: &Server, path: &Path) -> usize {
    let front = server.status()["front_pid"].as_i64().expect("the front has a number");
    let open = fs::read_dir(format!("/proc/{front}/fd")).expect("the front runs");
    let name = |entry: fs::DirEntry| fs::read_link(entry.path()).unwrap_or_default().to_string_lossy().into_owned();
    let is_it = |name: &String| name.trim_end_matches(" (deleted)") == path.to_string_lossy();
    open.flatten().map(name).filter(is_it).count()
}

/// Requests a file until it stays open. A file that changed recently is not kept open.
#[track_caller]
fn until_kept(server: &Server, target: &str) {
    let path = server.site.path(&format!("htdocs{target}"));
    until(&format!("{target} is kept open"), || {
        server.get(target).is(200);
        server.get(target).is(200);
        times_open(server, &path) > 0
    });
}

#[test]
fn a_file_that_is_asked_for_often_stays_open_and_no_longer_than_that() {
    let server = serve(Site::new().file("htdocs/page", "page"), "");
    until_kept(&server, "/page");
    assert_eq!(times_open(&server, &server.site.path("htdocs/page")), 1);
    // A removed file occupies disk space as long as it is open.
    fs::remove_file(server.site.path("htdocs/page")).expect("removed");
    until("the file is closed", || times_open(&server, &server.site.path("htdocs/page")) == 0);
}

#[test]
fn no_file_stays_open_without_the_directive_or_through_a_link() {
    let site = || Site::new().file("htdocs/page", "page").file("htdocs/folder/page", "page");
    let off = serve(site(), "OpenFileCache Off");
    let on = serve(site(), "Options FollowSymLinks");
    symlink("folder", on.site.path("htdocs/link")).expect("linked");
    until_kept(&on, "/folder/page");
    // The file on the other server is already cached as open, so these files are old enough, too.
    for _ in 0..5 {
        off.get("/page").is(200);
        on.get("/link/page").is(200);
    }
    assert_eq!(times_open(&off, &off.site.path("htdocs/page")), 0);
    until("no file is open", || times_open(&on, &on.site.path("htdocs/folder/page")) == 0);
    (0..5).for_each(|_| drop(on.get("/link/page").is(200)));
    assert_eq!(times_open(&on, &on.site.path("htdocs/folder/page")), 0);
}

#[test]
fn open_files_stay_within_open_file_cache() {
    let site = (0..10).fold(Site::new(), |site, n| site.file(&format!("htdocs/{n}"), "x"));
    let server = serve(site, "OpenFileCache 3");
    until_kept(&server, "/0");
    for n in (0..10).chain(0..10) {
        server.get(&format!("/{n}")).is(200);
    }
    let open: usize = (0..10).map(|n| times_open(&server, &server.site.path(&format!("htdocs/{n}")))).sum();
    assert!(open <= 3, "{open}");
}

/// A change of an open file: its name, the action, and the status and text of the next response.
type Change = (&'static str, fn(&Path), u16, &'static str);

const CHANGES: [Change; 8] = [
    ("is written", |file| fs::write(file, "after!").expect("written"), 200, "after!"),
    ("is truncated", |file| fs::write(file, "").expect("written"), 200, ""),
    ("grows", |file| fs::write(file, "before and after").expect("written"), 200, "before and after"),
    ("is replaced", |file| replace(file, |new| fs::write(new, "after!").expect("written")), 200, "after!"),
    ("is removed", |file| fs::remove_file(file).expect("removed"), 404, "404"),
    (
        "becomes a folder",
        |file| (fs::remove_file(file).expect("removed"), fs::create_dir(file).expect("made")).1,
        301,
        "301",
    ),
    ("becomes a link", |file| replace(file, |new| symlink("/etc/passwd", new).expect("linked")), 403, "403"),
    (
        "is closed to others",
        |file| fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("ours"),
        403,
        "403",
    ),
];

fn replace(file: &Path, make: impl FnOnce(&Path)) {
    let new = file.with_extension("new");
    make(&new);
    fs::rename(new, file).expect("replaced");
}

#[test]
fn changes_of_a_cached_open_file_are_seen_at_once() {
    let site = (0..CHANGES.len()).fold(Site::new(), |site, n| site.file(&format!("htdocs/{n}"), "before"));
    let server = serve(site, "Options None\nDefaultType text/plain");
    for (n, (what, change, status, text)) in CHANGES.into_iter().enumerate() {
        let target = format!("/{n}");
        until_kept(&server, &target);
        let tag = server.get(&target).header("etag");
        change(&server.site.path(&format!("htdocs{target}")));
        let answer = server.get(&target);
        assert_eq!(answer.status, status, "a file that {what}");
        assert!(if status == 200 { answer.text() == text } else { answer.text().contains(text) }, "a file that {what}");
        assert_ne!(answer.header("etag"), tag, "a file that {what}");
    }
}

#[test]
fn rules_of_a_folder_hold_for_files_that_are_kept_open() {
    let server =
        serve(Site::new().file("htdocs/a/page", "page"), "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>");
    until_kept(&server, "/a/page");
    server.site.write("htdocs/a/.htaccess", "Deny from all\n");
    until("the rules are known", || server.get("/a/page").status == 403);
    fs::remove_file(server.site.path("htdocs/a/.htaccess")).expect("removed");
    until("the rules are gone", || server.get("/a/page").status == 200);
}

#[test]
fn a_site_that_is_replaced_as_a_whole_is_served_as_it_is_now() {
    let site = Site::new().file("htdocs/1/page", "one").file("htdocs/2/page", "two").file("htdocs/other", "");
    symlink("1", site.path("htdocs/current")).expect("linked");
    let server = serve(site, "");
    until_kept(&server, "/other");
    (0..5).for_each(|_| drop(server.get("/current/page").is(200)));
    replace(&server.site.path("htdocs/current"), |new| symlink("2", new).expect("linked"));
    assert_eq!(server.text("/current/page"), "two", "a link is followed each time");
    until_kept(&server, "/1/page");
    fs::rename(server.site.path("htdocs/1"), server.site.path("htdocs/old")).expect("renamed");
    fs::rename(server.site.path("htdocs/2"), server.site.path("htdocs/1")).expect("renamed");
    until("a folder that was exchanged is looked at", || server.text("/1/page") == "two");
}
