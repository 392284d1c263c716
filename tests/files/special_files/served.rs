//! Special files that requests lead to: documents, scripts, files that a handler names.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{Bystander, KINDS, ends_well, put};
use crate::support::{REGISTRY, Request, Site};

#[test]
fn a_document_that_is_no_file_is_refused_at_once() {
    let site = Site::new();
    for kind in KINDS {
        put(kind, &site.path(&format!("htdocs/{kind}")));
    }
    put("pipe", &site.path("htdocs/folder/index.html"));
    let server = site.serve("Options FollowSymLinks\nErrorDocument 404 /pipe\n");
    let mut bystander = Bystander::of(&server);
    for target in ["/pipe", "/zero", "/socket", "/folder/"] {
        for request in [Request::get(target), Request::get(target).header("Range", "bytes=0-9")] {
            let status = server.send(request).status;
            assert!(matches!(status, 403 | 500), "{target}: {status}");
            bystander.is_served();
        }
    }
    // The error page is a special file, so the plain page is sent.
    server.get("/none").is(404);
    bystander.is_served();
    server.send(Request::get("/sparse").header("Range", "bytes=0-9")).is(206);
    ends_well(server);
}

#[test]
fn a_file_named_by_a_handler_must_be_a_regular_one() {
    let code = "package Names; use Apache::Constants ':common';\n\
        sub handler { my $r = shift; $r->filename('@DIR@/' . $r->args); DECLINED }\n\
        sub slurps { my $r = shift; $r->filename('@DIR@/' . $r->args); my $text = $r->slurp_filename; OK }\n1;\n";
    let site = Site::new().file("lib/Names.pm", code).file("plain", "plain");
    for kind in KINDS {
        put(kind, &site.path(kind));
    }
    let place =
        |name: &str| format!("<Location /{name}>\nSetHandler perl-script\nPerlHandler Names::{name}\n</Location>\n");
    let server = site.serve(&format!(
        "PerlLib lib\nPerlModule Names\nOptions FollowSymLinks\n{}{}",
        place("handler"),
        place("slurps")
    ));
    let mut bystander = Bystander::of(&server);
    assert_eq!(server.text("/handler?plain"), "plain");
    for kind in ["pipe", "zero", "socket"] {
        for place in ["handler", "slurps"] {
            let status = server.get(&format!("/{place}?{kind}")).status;
            assert!(matches!(status, 403 | 500), "{place} {kind}: {status}");
            bystander.is_served();
        }
    }
    ends_well(server);
}

#[test]
fn a_script_that_is_no_file_is_not_found() {
    let site = Site::new().script("scripts/a.pl", "print \"Content-Type: text/plain\\n\\nran\";\n");
    for kind in ["pipe", "zero", "socket"] {
        put(kind, &site.path(&format!("scripts/{kind}")));
    }
    fs::set_permissions(site.path("scripts/pipe"), fs::Permissions::from_mode(0o755)).expect("our own pipe");
    let server = site.serve(&format!("RequestTimeout 20s\n{REGISTRY}"));
    assert_eq!(server.text("/perl/a.pl"), "ran");
    for kind in ["pipe", "zero", "socket"] {
        server.get(&format!("/perl/{kind}")).is(404);
    }
    server.logged("the path is a pipe or a device, not a script");
    fs::remove_file(server.site.path("scripts/a.pl")).expect("our own file");
    put("pipe", &server.site.path("scripts/a.pl"));
    server.get("/perl/a.pl").is(404);
    ends_well(server);
}

#[test]
fn an_htaccess_that_is_no_file_costs_its_folder_only() {
    let site = Site::new();
    for kind in KINDS {
        fs::create_dir_all(site.path(&format!("htdocs/{kind}"))).expect("a folder");
        put(kind, &site.path(&format!("htdocs/{kind}/.htaccess")));
        site.write(&format!("htdocs/{kind}/page"), "page");
    }
    site.write("htdocs/changes/page", "page");
    let led = "package Led; sub handler { my $r = shift; $r->internal_redirect(scalar $r->args); 0 }\n1;\n";
    let server = site.file("lib/Led.pm", led).serve(
        "PerlLib lib\nPerlModule Led\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
         <Location /led>\nSetHandler perl-script\nPerlHandler Led\n</Location>\n",
    );
    let mut bystander = Bystander::of(&server);
    for kind in KINDS {
        for way in ["", "/led?"] {
            let status = server.get(&format!("{way}/{kind}/page")).status;
            assert!(matches!(status, 403 | 500), "{way} {kind}: {status}");
            bystander.is_served();
        }
    }
    for kind in ["pipe", "zero", "sparse"] {
        server.get("/changes/page").is(200);
        put(kind, &server.site.path("htdocs/changes/.htaccess"));
        crate::support::until("the folder is refused", || server.get("/changes/page").status >= 400);
        bystander.is_served();
        fs::remove_file(server.site.path("htdocs/changes/.htaccess")).expect("our own");
        crate::support::until("the folder is open again", || server.get("/changes/page").status == 200);
    }
    ends_well(server);
}
