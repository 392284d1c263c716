//! A whole site of 2003 moves: Registry scripts with DBI, Mason, ASP, rewrite rules, an access log of its own, TLS, and
//! `.htaccess` files. The tree is that of `old`, with these parts added.

use std::process::Command;

use super::{has_rows, serve, tree};
use crate::support::{Finished, Request, Site, free_port, until};

/// Lines that `conf/srm.conf` includes. SSLLog, SSLMutex and RewriteLog are of that time.
const PARTS: &str = "RewriteEngine on\nRewriteLog logs/rewrite_log\nRewriteLogLevel 0\n\
    RewriteRule ^/news/([0-9]+)\\.html$ /perl/news.pl?id=$1 [PT,L]\n\
    LogFormat \"%v %r %>s\" camel\nCustomLog logs/camel_log camel\n\
    <Directory \"@DIR@/apache/htdocs/team\">\nAllowOverride AuthConfig Limit FileInfo\n</Directory>\n\
    Listen 127.0.0.1:@PORT@\nListen 127.0.0.1:@TLS@\nSSLMutex sem\nSSLLog logs/ssl_log\nSSLLogLevel info\n\
    <VirtualHost _default_:@TLS@>\nDocumentRoot \"@DIR@/apache/htdocs\"\nSSLEngine on\n\
    SSLCertificateFile \"@DIR@/site.crt\"\nSSLCertificateKeyFile \"@DIR@/site.key\"\n</VirtualHost>\n";

/// A Registry script of that time: its table is made at the first request.
const NEWS: &str = "#!/usr/local/bin/perl\nuse strict;\nuse CGI;\nuse DBI;\nmy $q = CGI->new;\n\
    my $db = DBI->connect('dbi:SQLite:@DIR@/tmp/news.db', '', '', { RaiseError => 1 });\n\
    $db->do('CREATE TABLE IF NOT EXISTS news (id INTEGER PRIMARY KEY, title TEXT)');\n\
    $db->do('INSERT OR IGNORE INTO news VALUES (7, ?)', undef, 'Camels win');\n\
    my ($title) = $db->selectrow_array('SELECT title FROM news WHERE id = ?', undef, scalar $q->param('id'));\n\
    print $q->header('text/plain'), defined $title ? \"$title\\n\" : \"no such news\\n\";\n";

fn site() -> (Site, u16) {
    let (site, tls) = (tree("apache1.3", &[]), free_port());
    let site = site.certificate("site", &["localhost"]);
    let srm = site.read("apache/conf/srm.conf");
    site.write("apache/conf/srm.conf", &format!("{srm}Include conf/parts.conf\n"));
    site.write("apache/conf/parts.conf", &PARTS.replace("@TLS@", &tls.to_string()));
    let site = site
        .script("apache/perl/news.pl", NEWS)
        .file("apache/htdocs/team/index.html", "team\n")
        .file(
            "apache/htdocs/team/.htaccess",
            "AuthType Basic\nAuthName Team\nAuthUserFile conf/users\nrequire valid-user\nRedirect /team/old.html http://localhost/new.html\n",
        )
        .file("apache/htdocs/broken/.htaccess", "Options +Includes\n");
    (site, tls)
}

#[test]
fn a_site_with_dbi_rewrite_rules_htaccess_files_and_tls_is_migrated_checked_and_served() {
    let (site, tls) = site();
    site.cameleer(["migrate", "apache", "--to", "new"]).succeeded();
    has_rows(
        &site,
        "new/report.txt",
        "Changed",
        &["@DIR@/apache/conf/parts.conf:2: RewriteLog: is not supported: `cameleer explain` shows where a path leads"],
    );
    let output = site.cameleer(["check", "-f", "new/conf/httpd.conf"]).succeeded();
    assert!(output.out.contains("1 .htaccess file: Syntax OK"), "{output:?}");
    assert!(output.err.contains("htdocs/broken/.htaccess: not read, as in httpd"), "{output:?}");

    let server = serve(site, "new/conf/httpd.conf");
    assert_eq!(server.text("/news/7.html"), "Camels win\n");
    assert_eq!(server.text("/perl/news.pl?id=8"), "no such news\n");
    assert_eq!(server.text("/mason/page.html").trim(), "Mason at /mason/page.html");
    assert_eq!(server.text("/asp/page.asp").trim(), "ASP 42");
    server.get("/team/").is(401);
    // camel:hump
    let signed_in = || Request::get("/team/").header("Authorization", "Basic Y2FtZWw6aHVtcA==");
    assert_eq!(server.send(signed_in()).is(200).text(), "team\n");
    let moved = server.send(Request::get("/team/old.html").header("Authorization", "Basic Y2FtZWw6aHVtcA=="));
    assert_eq!(moved.header("location").as_deref(), Some("http://localhost/new.html"));
    let url = format!("https://127.0.0.1:{tls}/perl/news.pl?id=7");
    let ask = ["-sSk", "--noproxy", "*", &url];
    assert_eq!(Finished::of(Command::new("curl").args(ask)).succeeded().out, "Camels win\n");
    until("the log of the site has its lines", || {
        server.site.has("apache/logs/camel_log")
            && server.site.read("apache/logs/camel_log").contains("localhost GET /news/7.html HTTP/1.1 200")
    });
}
