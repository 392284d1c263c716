use super::{has_rows, serve, tree};
use crate::support::Request;

#[test]
fn a_migrated_tree_is_checked_served_and_answers_a_page_of_each_kind() {
    let site = tree("apache1.3", &[]);
    site.cameleer(["migrate", "apache", "--to", "new"]).succeeded();
    site.cameleer(["check", "-f", "new/conf/httpd.conf"]).succeeded();
    let server = serve(site, "new/conf/httpd.conf");
    assert_eq!(server.text("/"), "old page\n");
    assert_eq!(server.get("/README").is(200).header("content-type").as_deref(), Some("text/plain"));
    assert_eq!(server.text("/perl/form.pl?name=camel"), "hello camel\n");
    assert_eq!(server.text("/cgi-bin/date.cgi"), "cgi of 2003\n");
    assert_eq!(server.text("/mason/page.html").trim(), "Mason at /mason/page.html");
    assert_eq!(server.text("/asp/page.asp").trim(), "ASP 42");
    server.get("/private/").is(401);
    // camel:hump
    let signed_in = Request::get("/private/").header("Authorization", "Basic Y2FtZWw6aHVtcA==");
    assert_eq!(server.send(signed_in).is(200).text(), "private\n");
    server.get("/staff/").is(403);
    server.get("/shop.php").is(403);
}

#[test]
fn the_report_names_each_line_that_was_changed_or_is_to_be_decided() {
    let site = tree("apache1.3", &[]);
    site.cameleer(["migrate", "apache/conf/httpd.conf", "--to", "new"]).succeeded();
    has_rows(
        &site,
        "new/report.txt",
        "Changed",
        &[
            "@DIR@/apache/conf/httpd.conf: the file was Latin-1, its copy is UTF-8; check names of files with umlauts",
            "@DIR@/apache/conf/httpd.conf:8: PidFile: systemd and the control socket need none",
            "@DIR@/apache/conf/httpd.conf:10: Include: reads the copy of @DIR@/apache/conf/srm.conf",
            "@DIR@/apache/conf/httpd.conf:22: LoadModule config_log_module: mod_log_config is built in",
            "@DIR@/apache/conf/httpd.conf:38: BindAddress: is Listen 127.0.0.1:@PORT@ now",
        ],
    );
    has_rows(
        &site,
        "new/report.txt",
        "To be decided",
        &[
            "@DIR@/apache/conf/httpd.conf:30: LoadModule throttle_module: mod_throttle is not part of Cameleer: MaxConcurrentReqs limits a place, SpeedLimit a client",
            "@DIR@/apache/conf/access.conf:12: AuthDBUserFile: is not supported; check users with AuthUserFile, or in a Perl handler",
        ],
    );
    let main = site.read("new/conf/httpd.conf");
    assert!(main.contains("## FÜR DIE KÖPFE: Änderungen bitte an den Webmaster."), "{main}");
    assert!(main.contains("    Require all denied\n    </FilesMatch>\n"), "{main}");
    assert!(site.read("new/conf/access.conf").contains("    # AuthDBUserFile conf/staff\n    RedirectMatch 403 ^\n"));
}
