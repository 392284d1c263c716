use std::process::Command;

use super::{contents, has_rows, serve, tree};
use crate::support::{Finished, Request, Site};

/// The tree, and a site whose port its TLS host has.
fn debian() -> (Site, Site) {
    let tls = Site::new();
    let site = tree("debian2.4", &[("@TLS@", &tls.port.to_string())]);
    (site.certificate("secure/shop", &["shop.example.com"]), tls)
}

#[test]
fn a_migrated_tree_is_checked_served_and_answers_a_page_of_each_kind() {
    let (site, tls) = debian();
    let before = contents(&site.path("etc"));
    let output = site.cameleer(["migrate", "etc", "--to", "new"]).succeeded();
    assert!(output.err.is_empty(), "{output:?}");
    assert_eq!(contents(&site.path("etc")), before, "the old server's files are as before");
    let checked = site.cameleer(["check", "--no-htaccess", "-f", "new/apache2.conf"]).succeeded();
    assert!(checked.out.contains("Syntax OK"), "{checked:?}");
    site.write("secure/users", "ada:$apr1$YI8PRYms$/2KfD8pnS3i8fx5UzbQ8J1\n");

    let server = serve(site, "new/apache2.conf");
    let get = |target: &str| server.send(Request::get(target).header("Host", "www.example.com"));
    assert_eq!(get("/").is(200).text(), "<h1>Plain</h1>\n");
    assert_eq!(get("/perl/count.pl").is(200).text(), "registry GET\n");
    assert_eq!(get("/hello").is(200).text(), "mod_perl 2\n");
    assert_eq!(get("/cgi-bin/env.pl").is(200).text(), "cgi www.example.com\n");
    assert_eq!(get("/fcgi/app.fcgi").is(200).text(), "fastcgi\n");
    assert_eq!(get("/inner/page.txt").is(200).text(), "inner page\n");
    assert_eq!(get("/short").is(200).text(), "inner page\n");
    let moved = get("/item?id=7").is(301).header("location");
    assert!(moved.is_some_and(|to| to.ends_with("/items/7")));
    get("/members/").is(401);
    // Paths that the old server protected by a module in C are closed, and no source of PHP is sent.
    get("/intranet/plan").is(403);
    get("/secret.php5").is(403);
    get("/old-php/page.php").is(500);
    let url = format!("https://shop.example.com:{}", tls.port);
    let resolve = format!("shop.example.com:{}:127.0.0.1", tls.port);
    let curl = |path: &str| {
        let ask = ["-sSk", "--noproxy", "*", "--resolve", &resolve, "-w", "%{http_code}", "-o", "/dev/null"];
        Finished::of(Command::new("curl").args(ask).arg(format!("{url}{path}"))).succeeded().out
    };
    assert_eq!(curl("/"), "200");
    assert_eq!(curl("/admin"), "403");
    assert!(server.site.has("logs/access.log"));
}

#[test]
fn the_report_names_each_line_that_was_changed() {
    let (site, _tls) = debian();
    site.cameleer(["migrate", "etc", "--to", "new"]).succeeded();
    has_rows(
        &site,
        "new/report.txt",
        "Taken over",
        &[
            "@DIR@/etc/apache2.conf: 25 of 32 lines unchanged",
            "@DIR@/etc/mods-enabled/alias.load: 1 of 1 lines unchanged",
            "@DIR@/etc/sites-enabled/000-default.conf: 37 of 39 lines unchanged",
            "4 CGI programs stay where they are, 4 of them in Perl",
        ],
    );
    has_rows(
        &site,
        "new/report.txt",
        "Changed",
        &[
            "@DIR@/etc/apache2.conf:4: PidFile: systemd and the control socket need none",
            "@DIR@/etc/apache2.conf:14: Include: reads the copy of @DIR@/etc/mods-enabled/*.load",
            "@DIR@/etc/mods-enabled/mpm_event.load:1: LoadModule mpm_event_module: the MPM is not part of Cameleer: workers are processes, and slow clients need none",
            "@DIR@/etc/mods-enabled/mpm_event.conf:7: MaxRequestWorkers: counted threads; here MaxClients counts processes of Perl, 256 unless it is set",
            "@DIR@/etc/mods-enabled/evasive.conf:1: <IfModule mod_evasive20.c>: applied to the old server, so its lines are judged one by one",
            "@DIR@/etc/mods-enabled/evasive.conf:3: DOSPageCount: belongs to mod_evasive, see there",
        ],
    );
}

#[test]
fn the_report_names_each_decision_with_what_to_do() {
    let (site, _tls) = debian();
    site.cameleer(["migrate", "etc", "--to", "new"]).succeeded();
    has_rows(
        &site,
        "new/report.txt",
        "To be decided",
        &[
            "@DIR@/etc/mods-enabled/evasive.load:1: LoadModule evasive20_module: mod_evasive is not part of Cameleer: SpeedLimit limits the requests of one client, for instance SpeedLimit requests=100/10s",
            "@DIR@/etc/mods-enabled/camelcase.load:1: LoadModule camelcase_module: is not part of Cameleer; find out what it did for the site",
            "@DIR@/etc/mods-enabled/status.conf:1: <IfModule mod_status.c>: did not apply to the old server; its lines restrict visitors; find out whether its module was compiled in",
            "@DIR@/etc/conf-enabled/security.conf:5: CamelHumps: is not a directive of httpd or Cameleer; find out which module defined it",
            "@DIR@/cgi-bin/old.pl:2: CGI::Camel::Humps: is not found in @INC; install it",
            "@DIR@/cgi-bin/dead.cgi:1: CGI program: the #! line names the missing interpreter \"/usr/local/bin/perl5.005\"; install that or name another",
        ],
    );
    let text = site.read("new/report.txt");
    for part in [
        "/etc/mods-enabled/php8.2.load:2: LoadModule php_module: PHP is not part of Cameleer; run PHP-FPM and write SetHandler",
        "/etc/mods-enabled/php8.2.conf:5: AddType: PHP is not part of Cameleer, so .php5 is refused",
        "/etc/sites-enabled/000-default.conf:44: AuthType: expected Basic or Digest, got \"openid-connect\"",
        "/etc/sites-enabled/shop.conf:9: SSLVerifyClient: the TLS handshake asks each client of this host",
        "/htdocs/old-php/.htaccess:1: php_value: is not supported: PHP is not run here",
        "/htdocs/old-php/.htaccess:4: AddType: PHP is not part of Cameleer, so the sources",
        "/htdocs/old-php/.htaccess:3: CamelHumps: is not a directive",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let html = site.read("new/report.html");
    assert!(html.contains("<h2>To be decided: ") && html.contains("&lt;IfModule mod_evasive20.c&gt;"), "{html}");
    assert!(!html.contains("<IfModule") && !html.contains("src="), "{html}");
}

#[test]
fn comments_and_links_of_the_tree_stay_and_each_commented_line_says_why() {
    let (site, _tls) = debian();
    site.cameleer(["migrate", "etc", "--to", "new"]).succeeded();
    let link = std::fs::read_link(site.path("new/sites-enabled/000-default.conf")).expect("a link");
    assert_eq!(link.to_str(), Some("../sites-available/000-default.conf"));
    let main = site.read("new/apache2.conf");
    for part in [
        "# This is the main Apache server configuration file.\n",
        "# migrate: PidFile: systemd and the control socket need none\n# PidFile ${APACHE_PID_FILE}\n",
        "# Include ports.conf\nInclude \"${CAMELEER_SITE}/ports.conf\"\n",
    ] {
        assert!(main.contains(part), "{part}\n{main}");
    }
    assert!(site.read("new/sites-available/000-default.conf").contains("# The name of the company's first site."));
    assert!(site.read("new/mods-available/evasive.conf").contains("# Two pages a second."));
}

#[test]
fn the_unit_has_the_paths_and_the_account_of_the_site() {
    let (site, _tls) = debian();
    site.cameleer(["migrate", "etc", "--to", "new"]).succeeded();
    let unit = site.read("new/cameleer.service");
    let exec = unit.lines().find(|line| line.starts_with("ExecStart=")).unwrap_or_default();
    assert!(exec.ends_with(&site.filled("/cameleer serve -f @DIR@/new/apache2.conf")), "{unit}");
    assert!(unit.contains(&site.filled("ReadWritePaths=-@DIR@/logs\n")), "{unit}");
    assert!(unit.contains("The site runs as User nobody, Group nogroup of the configuration."), "{unit}");
}
