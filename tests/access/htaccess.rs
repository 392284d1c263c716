//! Access rules in `.htaccess` files, where `AllowOverride` allows their class.

use super::{get_as, site};
use crate::support::{Server, until};

/// Users `ana` and `ben`; the SHA-1 hash is that of `x`.
const USERS: &str = "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=\nben:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=\n";

fn serve(allowed: &str, text: &str) -> Server {
    let site = site().file("users", USERS).file("htdocs/place/.htaccess", text);
    site.serve(&format!("<Directory @DIR@/htdocs>\nAllowOverride {allowed}\n</Directory>"))
}

const PASSWORD: &str = "AuthType Basic\nAuthName x\nAuthUserFile users\nRequire user ana\n";

#[test]
fn a_htaccess_file_may_require_a_password() {
    let server = serve("AuthConfig", PASSWORD);
    for target in ["/place/", "/place/deep/a.txt", "/place/none"] {
        server.get(target).is(401);
        server.send(get_as(target, "ben", "x")).is(401);
    }
    server.send(get_as("/place/deep/a.txt", "ana", "x")).is(200);
    server.site.write("htdocs/place/.htaccess", "");
    until("the door is open", || server.get("/place/").status == 200);
}

#[test]
fn a_folder_may_choose_addresses_and_methods() {
    let server =
        serve("Limit", "<LimitExcept GET>\nDeny from all\n</LimitExcept>\n<Files secret.*>\nDeny from all\n</Files>\n");
    server.site.write("htdocs/place/secret.txt", "secret");
    server.get("/place/").is(200);
    server.post("/place/", "a=b").is(403);
    server.get("/place/secret.txt").is(403);
    server.get("/place/secret.txt/more").is(403);
}

#[test]
fn a_forbidden_directive_closes_the_folder() {
    let server = serve("Limit", PASSWORD);
    server.get("/place/").is(500);
    server.logged("AuthType: is not allowed here: its <Directory> needs AllowOverride AuthConfig");
}

#[test]
fn a_file_that_a_htaccess_shuts_stays_shut_to_a_perl_location() {
    let site = site()
        .file("htdocs/perl/.htaccess", "<Files secret.pl>\nDeny from all\n</Files>\n")
        .file("htdocs/perl/secret.pl", "1;");
    let server = site.serve(
        "PerlLib lib\nPerlModule My\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
         <Location /perl>\nSetHandler perl-script\nPerlHandler My\n</Location>",
    );
    for target in ["/perl/secret.pl", "/perl/secret.pl/", "/perl/secret.pl/more"] {
        server.get(target).is(403);
    }
    server.get("/perl/other.pl/more").is(200);
}
