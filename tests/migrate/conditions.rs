use super::{has_rows, serve};
use crate::support::Site;

const CONF: &str = "ServerName localhost\nErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\n\
    User nobody\nGroup nogroup\nLoadModule dir_module mod_dir.so\n";

fn site(more: &str) -> Site {
    Site::new().file("old/httpd.conf", &format!("{CONF}{more}"))
}

#[test]
fn a_block_of_a_module_that_debian_compiles_in_stays() {
    let block = "<IfModule mod_version.c>\n<IfVersion >= 2.4>\n<Location /secret>\nRequire all denied\n</Location>\n\
                 </IfVersion>\n</IfModule>\n";
    let site = site(block);
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    assert!(site.read("new/httpd.conf").ends_with(&format!("mod_dir.so\n{block}")));
}

#[test]
fn a_block_with_restrictions_that_did_not_apply_is_a_decision() {
    let site = site("<IfModule mod_rewrite.c>\n<Location /secret>\nRequire all denied\n</Location>\n</IfModule>\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let row = "@DIR@/old/httpd.conf:8: <IfModule mod_rewrite.c>: did not apply to the old server; \
               its lines restrict visitors; find out whether its module was compiled in";
    has_rows(&site, "new/report.txt", "To be decided", &[row]);
}

#[test]
fn a_block_that_needs_a_definition_of_the_command_line_is_a_decision() {
    let lines = "Define HERE\n<IfDefine HERE>\nServerTokens Prod\n</IfDefine>\n\
                 <IfDefine SSL>\nServerTokens Full\n</IfDefine>\n<IfDefine !SSL>\nTraceEnable Off\n</IfDefine>\n";
    let site = site(lines);
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let report = site.read("new/report.txt");
    assert_eq!(report.matches("<IfDefine").count(), 1, "{report}");
    let row = "@DIR@/old/httpd.conf:12: <IfDefine SSL>: -D SSL was not given: its lines do not apply; \
               if the old server was started with -D SSL, give it to migrate";
    has_rows(&site, "new/report.txt", "To be decided", &[row]);
    site.cameleer(["migrate", "-D", "SSL", "old", "--to", "with"]).succeeded();
    assert!(!site.read("with/report.txt").contains("<IfDefine"));
}

#[test]
fn a_folder_whose_htaccess_file_restricts_by_a_missing_module_is_closed() {
    let site = site("LoadModule authnz_fcgi_module x.so\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n")
        .file("htdocs/open/.htaccess", "<IfModule mod_authnz_fcgi.c>\nHeader set X y\n</IfModule>\n")
        .file("htdocs/open/a.txt", "open\n")
        .file("htdocs/secret/a.txt", "secret\n")
        .file(
            "htdocs/secret/.htaccess",
            "<IfModule mod_authnz_fcgi.c>\nAuthType Basic\nAuthName x\nAuthBasicProvider fcgi\nRequire external-group x\n</IfModule>\n",
        );
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let row = "@DIR@/htdocs/secret/.htaccess:1: <IfModule mod_authnz_fcgi.c>: applied to the old server and does not apply \
               here, so its restrictions are gone: the folder is closed now by a <Directory> section of the main file";
    has_rows(&site, "new/report.txt", "To be decided", &[row]);
    let server = serve(site, "new/httpd.conf");
    assert_eq!(server.text("/open/a.txt"), "open\n");
    server.get("/secret/a.txt").is(403);
}
