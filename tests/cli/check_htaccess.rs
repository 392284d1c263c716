//! `.htaccess` files in `check`: read as requests would read them, with the permissions of their folders.

use std::os::unix::fs::symlink;

use crate::support::{Finished, Site};

/// A site whose folder `open` allows all, and `auth` one class.
fn site() -> Site {
    let site = Site::new().file("htdocs/open/.keep", "").file("htdocs/auth/.keep", "");
    site.configure(
        "<Directory @DIR@/htdocs/open>\nAllowOverride All\n</Directory>\n\
         <Directory @DIR@/htdocs/auth>\nAllowOverride AuthConfig\n</Directory>\n",
    );
    site
}

fn check(site: &Site) -> Finished {
    site.cameleer(["check", "-f", "site.conf"])
}

#[test]
fn all_errors_of_htaccess_files_are_named_with_file_and_line() {
    let site = site()
        .file("htdocs/open/.htaccess", "AddType text/x-foo .foo\nNoSuchThing on\nRewriteRule (a\nHeader foo bar\n")
        .file("htdocs/open/a/b/.htaccess", "<Files x>\n");
    let output = check(&site)
        .failed(78, "htdocs/open/.htaccess:2: NoSuchThing: is not a directive")
        .failed(78, "htdocs/open/.htaccess:3: RewriteRule: ")
        .failed(78, "htdocs/open/.htaccess:4: Header: expected set,")
        .failed(78, "htdocs/open/a/b/.htaccess:1: <Files>: ")
        .failed(78, "make requests for their folders fail");
    assert!(!output.out.contains("Syntax OK"), "{output:?}");
    let output = site.cameleer(["check", "--no-htaccess", "-f", "site.conf"]).succeeded();
    assert!(output.out.contains("site.conf: Syntax OK") && output.err.is_empty(), "{output:?}");
    let output = site.cameleer(["serve", "-t", "-f", "site.conf"]).succeeded();
    assert!(!output.err.contains("htaccess"), "a start does not depend on them: {output:?}");
}

#[test]
fn a_line_that_allow_override_forbids_is_an_error_with_the_class_that_it_needs() {
    let site =
        site().file("htdocs/auth/.htaccess", "AuthName Staff\nRequire valid-user\nOptions +ExecCGI\nTimeout 3\n");
    check(&site)
        .failed(
            78,
            "htdocs/auth/.htaccess:3: Options: is not allowed here: its <Directory> needs AllowOverride Options",
        )
        .failed(78, "htdocs/auth/.htaccess:4: Timeout: is not allowed in .htaccess files");
}

#[test]
fn files_that_are_valid_are_counted_and_those_that_are_not_read_are_named() {
    let site = site()
        .file("htdocs/open/.htaccess", "AddType text/x-foo .foo\n")
        .file("htdocs/closed/.htaccess", "Require all denied\n");
    let output = check(&site).succeeded();
    assert!(output.out.ends_with("Syntax OK\n1 .htaccess file: Syntax OK\n"), "{output:?}");
    assert!(
        output.err.contains("htdocs/closed/.htaccess: not read, as in httpd, because AllowOverride is None there"),
        "{output:?}"
    );
}

#[test]
fn links_are_followed_as_for_requests_and_a_circle_of_links_ends() {
    let site = site().file("htdocs/open/a/b/.keep", "").file("elsewhere/.htaccess", "NoSuchThing on\n");
    symlink("../..", site.path("htdocs/open/a/b/up")).expect("a link in TMPDIR");
    symlink(site.path("elsewhere"), site.path("htdocs/open/a/away")).expect("a link in TMPDIR");
    let output = check(&site).failed(78, "htdocs/open/a/away/.htaccess:1: NoSuchThing");
    assert_eq!(output.err.matches("NoSuchThing").count(), 1, "{output:?}");
    site.configure("<Directory @DIR@/htdocs/open>\nAllowOverride All\nOptions -FollowSymLinks\n</Directory>\n");
    check(&site).succeeded();
}

#[test]
fn folders_beyond_the_greatest_depth_and_files_beyond_their_limits_are_named() {
    let deep = "d/".repeat(20);
    let site = site()
        .file(&format!("htdocs/open/{deep}.htaccess"), "NoSuchThing on\n")
        .file("htdocs/open/long/.htaccess", &"# comment\n".repeat(7000))
        .file("htdocs/open/many/.htaccess", &"NoSuchThing on\n".repeat(30));
    let output = check(&site)
        .failed(78, "htdocs/open/long/.htaccess: cannot be read")
        .failed(78, "htdocs/open/many/.htaccess: 10 further errors");
    assert!(output.err.contains("d: too deep to be searched for .htaccess files"), "{output:?}");
    assert!(!output.err.contains("d/.htaccess"), "{output:?}");
}

#[test]
fn files_that_apply_together_have_the_limits_of_a_request() {
    let text = format!("{}\n", "# ".repeat(30_000));
    let site = site()
        .file("htdocs/open/.htaccess", &text)
        .file("htdocs/open/a/.htaccess", &text)
        .file("htdocs/open/a/b/.htaccess", &text);
    check(&site).failed(78, "htdocs/open/a/b: the .htaccess files from the root folder down to here exceed the limits");
}

#[test]
fn a_file_above_the_document_root_counts() {
    let site = Site::new().file("up/htdocs/.keep", "").file("up/.htaccess", "NoSuchThing on\n");
    site.configure("DocumentRoot @DIR@/up/htdocs\n<Directory @DIR@/up>\nAllowOverride All\n</Directory>\n");
    check(&site).failed(78, "up/.htaccess:1: NoSuchThing");
}

const OWN: &str = "package HT;\nuse strict;\nuse Apache2::Module ();\nuse Apache2::CmdParms ();\nuse Apache2::Const -compile => qw(OR_ALL TAKE1);\n\
    Apache2::Module::add(__PACKAGE__, [{ name => 'MyOne', func => 'HT::one', req_override => Apache2::Const::OR_ALL, \
    args_how => Apache2::Const::TAKE1 }]);\nsub one { $_[0]{one} = $_[2] }\n1;\n";

#[test]
fn directives_that_the_sites_modules_define_are_known() {
    let site = Site::new().file("lib/HT.pm", OWN).file("htdocs/.htaccess", "MyOne word\n");
    let allowed = "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n";
    site.configure(allowed);
    check(&site).failed(78, "htdocs/.htaccess:1: MyOne: is not a directive");
    site.configure(&format!("PerlSwitches -I@DIR@/lib\nPerlLoadModule HT\n{allowed}"));
    let output = check(&site).succeeded();
    assert!(output.out.contains("1 .htaccess file: Syntax OK"), "{output:?}");
}
