use super::{has_rows, serve};
use crate::support::Site;

const CONF: &str = "ServerName localhost\nErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\n\
    LoadModule dir_module mod_dir.so\n";

/// A configuration with these lines behind the first five.
fn site(lines: &str) -> Site {
    Site::new().file("old/httpd.conf", &format!("{CONF}{lines}"))
}

/// Asserts that the copy does not pass the check, and has the line as it was.
#[track_caller]
fn stays(lines: &str, line: &str) {
    let site = site(lines).file("old/acl.conf", "<Location /zz>\nRequire all denied\n</Location>\n");
    site.cameleer(["migrate", "old", "--to", "new"]).failed(1, "does not pass cameleer check yet");
    let copy = site.read("new/httpd.conf");
    assert!(copy.lines().any(|found| found == line), "{line}\n{copy}");
}

#[test]
fn a_line_whose_words_cannot_be_read_stays_and_fails_the_check() {
    stays("<Location /a>\nRequire ip ${OFFICE}\n</Location>\n", "Require ip ${OFFICE}");
    stays("<Location /a>\nRequire user \"bob\n</Location>\n", "Require user \"bob");
    stays("<Location /a>\nDeny from \"all\n</Location>\n", "Deny from \"all");
    stays("Include ${CONFDIR}/acl.conf\n", "Include ${CONFDIR}/acl.conf");
    stays("<Location ${DD}>\nRequire all denied\n</Location>\n", "<Location ${DD}>");
    stays("<Macro M>\nRequire ip ${OFFICE}\n</Macro>\n<Location /a>\nUse M\n</Location>\n", "Use M");
}

#[test]
fn a_section_that_reads_a_file_stays_and_fails_the_check() {
    let host = "<VirtualHost www.example.invalid:80>";
    stays(&format!("{host}\nDocumentRoot @DIR@/htdocs\nInclude acl.conf\n</VirtualHost>\n"), host);
    stays("<Camel x>\nInclude acl.conf\n</Camel>\n", "<Camel x>");
}

#[test]
fn a_macro_closes_the_places_that_use_it() {
    let site = site(
        "LoadModule shib_module mod_shib.so\n\
         <Macro OpenId>\nAuthOpenIDEnabled On\n</Macro>\n<Location /a>\nUse OpenId\n</Location>\n\
         <Macro Bob>\nRequire external-user bob\n</Macro>\n<Location /b>\n<RequireAll>\nRequire all granted\n<RequireNone>\nUse Bob\n\
         </RequireNone>\n</RequireAll>\n</Location>\n\
         <Macro Shib>\n<IfModule mod_shib.c>\nAuthType shibboleth\nRequire shib-session\n</IfModule>\n</Macro>\n\
         <Location /c>\nUse Shib\n</Location>\n\
         <Macro Local>\nRequire local\n</Macro>\n<Location /d>\nUse Local\n</Location>\n\
         <Macro Outer>\nUse OpenId\n</Macro>\n<Location /e>\nUse Outer\n</Location>\n",
    );
    for place in ["a", "b", "c", "d", "e", "f"] {
        site.write(&format!("htdocs/{place}/page.txt"), "page\n");
    }
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let copy = site.read("new/httpd.conf");
    assert!(copy.contains("\n# AuthOpenIDEnabled On\nRedirectMatch 403 ^\n"), "{copy}");
    assert!(copy.contains("\n# Require external-user bob\nRequire all granted\n"), "{copy}");
    assert!(copy.contains("<Macro Local>\nRequire local\n</Macro>\n"), "{copy}");
    let server = serve(site, "new/httpd.conf");
    for (place, status) in [("a", 403), ("b", 403), ("c", 403), ("d", 200), ("e", 403), ("f", 200)] {
        assert_eq!(server.get(&format!("/{place}/page.txt")).status, status, "{place}\n{copy}");
    }
}

#[test]
fn a_requirement_of_a_macro_with_opposite_uses_stays_and_fails_the_check() {
    stays(
        "<Macro Bob>\nRequire external-user bob\n</Macro>\n<Location /a>\nUse Bob\n</Location>\n\
         <Location /b>\n<RequireAll>\nRequire all granted\n<RequireNone>\nUse Bob\n</RequireNone>\n</RequireAll>\n</Location>\n",
        "Require external-user bob",
    );
}

#[test]
fn a_condition_with_a_parameter_closes_the_place() {
    let site = site(
        "LoadModule shib_module mod_shib.so\n<Macro If $module>\n<IfModule $module>\nRequire shib-session\n</IfModule>\n</Macro>\n\
         <Location /a>\nUse If mod_shib.c\n</Location>\n",
    );
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let copy = site.read("new/httpd.conf");
    assert!(copy.contains("\n# <IfModule $module>\nRedirectMatch 403 ^\n<IfModule $module>\n"), "{copy}");
}

#[test]
fn a_macro_reads_the_copies_of_its_files() {
    let site = site("<Macro Acl $name>\nIncludeOptional acl/$name*.conf\n</Macro>\nUse Acl a\nUse Acl none\n")
        .file("old/acl/a1.conf", "Mutex file:/x\n<Location /a>\nRequire all denied\n</Location>\n")
        .file("htdocs/a/page.txt", "page\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let row = "@DIR@/old/httpd.conf:7: IncludeOptional: reads the copies of the files";
    has_rows(&site, "new/report.txt", "Changed", &[row]);
    assert!(site.read("new/httpd.conf").contains("\nIncludeOptional \"${CAMELEER_SITE}/acl/$name*.conf\"\n</Macro>"));
    assert!(site.read("new/acl/a1.conf").contains("\n# Mutex file:/x\n<Location /a>\n"));
    // The old file is not read any more.
    site.write("old/acl/a1.conf", "");
    serve(site, "new/httpd.conf").get("/a/page.txt").is(403);
}

#[test]
fn a_macro_whose_folder_depends_on_a_parameter_is_a_decision() {
    let site = site("<Macro Acl $dir>\nInclude $dir/acl.conf\n</Macro>\nUse Acl x\n")
        .file("old/x/acl.conf", "ServerTokens Prod\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    assert!(site.read("new/httpd.conf").contains("\nInclude \"${CAMELEER_SITE}/$dir/acl.conf\"\n"));
    let site = self::site("<Macro Acl $dir>\nInclude $dir/acl.conf\n</Macro>\nUse Acl @DIR@/else\n")
        .file("else/acl.conf", "ServerTokens Prod\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    has_rows(
        &site,
        "new/report.txt",
        "To be decided",
        &[
            "@DIR@/old/httpd.conf:7: Include: the files that this macro includes are not copied, because their folder depends \
           on a parameter, or nothing uses the macro: they still belong to the old server; copy them and name the copies",
        ],
    );
}

#[test]
fn a_file_that_a_location_includes_too_closes_it() {
    let site = site("Include acl.conf\n<Location /a>\nInclude acl.conf\n</Location>\n")
        .file("old/acl.conf", "MellonEnable auth\nQS_DenyPath +x deny y\n")
        .file("htdocs/a/page.txt", "page\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let server = serve(site, "new/httpd.conf");
    server.get("/a/page.txt").is(403);
}

#[test]
fn an_included_file_with_the_name_of_the_report_is_a_decision() {
    let site = site("Include report.txt\n").file("old/report.txt", "<Location /a>\nRequire all denied\n</Location>\n");
    site.cameleer(["migrate", "old", "--to", "new"]).failed(1, "does not pass cameleer check yet");
    assert!(site.read("new/report.txt").contains("To be decided"));
}
