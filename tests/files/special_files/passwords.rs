//! AuthUserFile and AuthGroupFile.

use std::fs::{self, File, OpenOptions};

use super::{Bystander, KINDS, ends_well, front, put};
use crate::support::{Request, Server, Site, own_memory, until};

/// User `ana`; the SHA-1 hash is that of `x`.
const ANA: &str = "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=\n";
const LOGIN: &str = "AuthType Basic\nAuthName x\nRequire valid-user\n";

/// A site whose folders may require passwords; `/led?path` redirects to `path` inside a worker.
#[track_caller]
fn serve(site: Site) -> Server {
    let led = "package Led; sub handler { my $r = shift; $r->internal_redirect(scalar $r->args); 0 }\n1;\n";
    site.file("lib/Led.pm", led).serve(
        "Timeout 20\nPerlLib lib\nPerlModule Led\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
         <Location /led>\nSetHandler perl-script\nPerlHandler Led\n</Location>\n",
    )
}

fn as_ana(target: &str) -> Request {
    Request::get(target).header("Authorization", "Basic YW5hOng=")
}

#[test]
fn a_special_password_file_affects_only_its_folder() {
    let mut site = Site::new().file("users", ANA);
    for kind in KINDS {
        put(kind, &site.path(kind));
        let users = format!("{LOGIN}AuthUserFile @DIR@/{kind}\n");
        let in_group = LOGIN.replace("Require valid-user", "Require group staff");
        let groups = format!("{in_group}AuthUserFile @DIR@/users\nAuthGroupFile @DIR@/{kind}\n");
        site = site
            .file(&format!("htdocs/users/{kind}/.htaccess"), &users)
            .file(&format!("htdocs/users/{kind}/page"), "secret")
            .file(&format!("htdocs/groups/{kind}/.htaccess"), &groups)
            .file(&format!("htdocs/groups/{kind}/page"), "secret");
    }
    let server = serve(site);
    let mut bystander = Bystander::of(&server);
    for kind in KINDS {
        // As in httpd, groups that cannot be read have no members.
        for (place, status) in [("users", 500), ("groups", 401)] {
            server.send(as_ana(&format!("/{place}/{kind}/page"))).is(status);
            bystander.is_served();
            server.send(as_ana(&format!("/led?/{place}/{kind}/page"))).is(status);
            bystander.is_served();
        }
    }
    server.logged(&server.site.filled("AuthUserFile: @DIR@/pipe: the path is a named pipe, not a file"));
    server.logged(&server.site.filled("AuthGroupFile: @DIR@/zero: the path is a device, not a file"));
    server.logged(&server.site.filled("AuthUserFile: @DIR@/sparse: the file is longer than 16M"));
    server.logged(&server.site.filled("AuthGroupFile: @DIR@/sparse: the file is longer than 4M"));
    ends_well(server);
}

#[test]
fn a_password_file_that_grows_or_is_replaced_is_refused_from_then_on() {
    let site = Site::new().file("users", ANA).file("htdocs/a/page", "secret");
    let server = serve(site.file("htdocs/a/.htaccess", &format!("{LOGIN}AuthUserFile @DIR@/users\n")));
    let mut bystander = Bystander::of(&server);
    let mut until = |status: u16| {
        until(&format!("she is answered with {status}"), || {
            bystander.is_served();
            server.send(as_ana("/a/page")).status == status
        });
    };
    let users = server.site.path("users");
    until(200);
    OpenOptions::new().append(true).open(&users).and_then(|file| file.set_len(17 << 20)).expect("our own file");
    until(500);
    server.site.write("users", ANA);
    until(200);
    for kind in KINDS {
        put(kind, &users);
        until(500);
        fs::remove_file(&users).or_else(|_| fs::remove_dir(&users)).expect("our own file");
        server.site.write("users", ANA);
        until(200);
    }
    ends_well(server);
}

#[test]
fn a_thousand_password_files_are_not_all_cached() {
    let site = Site::new();
    for number in 0..1000 {
        site.write(&format!("htdocs/{number}/.htaccess"), &format!("{LOGIN}AuthUserFile @DIR@/users.{number}\n"));
        site.write(&format!("htdocs/{number}/page"), "secret");
        site.write(&format!("users.{number}"), ANA);
        let file = File::options().append(true).open(site.path(&format!("users.{number}"))).expect("our own file");
        // A line without a colon is not an entry, but must be read all the same.
        file.set_len(300 << 10).expect("our own file");
    }
    let server = serve(site);
    let mut connection = server.connect();
    for number in 0..1000 {
        connection.ask(as_ana(&format!("/{number}/page"))).is(200);
    }
    let memory = own_memory(front(&server));
    assert!(memory < 160 << 20, "300 MB were read, and {memory} bytes are kept");
}

#[test]
fn the_last_entries_of_a_long_password_file_are_found() {
    let mut users: String = (0..60_000).map(|n| format!("user{n}:{{SHA}}EfatjsUqKYSrqv18O1FlA3hcIHI=\n")).collect();
    users.push_str(ANA);
    let site = Site::new().file("users", &users).file("htdocs/a/page", "secret");
    let server = serve(site.file("htdocs/a/.htaccess", &format!("{LOGIN}AuthUserFile @DIR@/users\n")));
    server.send(as_ana("/a/page")).is(200);
    server.send(Request::get("/a/page").header("Authorization", "Basic dXNlcjU5OTk5Ong=")).is(200);
    server.send(Request::get("/a/page").header("Authorization", "Basic dXNlcjYwMDAwOng=")).is(401);
}
