use super::{has_rows, serve};
use crate::support::{Request, Site};

/// A site whose folders have a file `page.txt` each.
fn site(folders: &[&str], lines: &str) -> Site {
    let site = Site::new().file(
        "old/httpd.conf",
        &format!(
            "ServerName localhost\nErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\n\
             LoadModule dir_module mod_dir.so\n{lines}"
        ),
    );
    for folder in folders {
        site.write(&format!("htdocs/{folder}/page.txt"), "page\n");
    }
    site
}

#[test]
fn a_rule_that_cannot_stay_takes_its_conditions_along_and_refuses_what_it_matched() {
    let site = site(
        &["adm", "x", "or", "plain"],
        "RewriteEngine On\nRewriteMap m dbm=ndbm:/x\nRewriteCond %{HTTP_HOST} ^old\nRewriteRule ^/x/(.*) ${m:$1} [L]\nRewriteRule ^/adm - [F]\n\
         RewriteCond %{HTTP_USER_AGENT} camel [OR]\nRewriteCond %{NO_SUCH_VARIABLE} x\nRewriteRule ^/OR - [F,NC]\n",
    );
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let copy = site.read("new/httpd.conf");
    assert!(copy.contains("RewriteCond %{HTTP_HOST} ^old\n# migrate: RewriteRule: "), "{copy}");
    assert!(copy.contains("\n# RewriteRule ^/x/(.*) ${m:$1} [L]\nRewriteRule ^/x/(.*) - [F]\n"), "{copy}");
    assert!(copy.contains("\n# RewriteCond %{HTTP_USER_AGENT} camel [OR]\n"), "{copy}");
    let server = serve(site, "new/httpd.conf");
    server.get("/plain/page.txt").is(200);
    server.get("/adm/page.txt").is(403);
    server.get("/or/page.txt").is(403);
    server.get("/x/page.txt").is(200);
    server.send(Request::get("/x/page.txt").header("Host", "old.example.com")).is(403);
}

#[test]
fn rules_are_never_turned_off_by_a_wrong_line() {
    let site = site(&[], "RewriteEngine Onn\nRewriteRule ^/adm - [F]\n");
    site.cameleer(["migrate", "old", "--to", "new"]).failed(1, "says what is left to decide");
    assert!(site.read("new/httpd.conf").contains("\nRewriteEngine Onn\n"));
}

#[test]
fn clients_behind_a_proxy_keep_their_addresses_without_mod_rpaf() {
    let lines = "LoadModule rpaf_module x.so\nRPAF_Enable On\nRPAF_ProxyIPs 127.0.0.1 ::1\nRPAF_Header X-Forwarded-For\n\
        <Location /local>\nRequire local\n</Location>\n";
    let site = site(&["local"], lines);
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let server = serve(site, "new/httpd.conf");
    server.get("/local/page.txt").is(200);
    server.send(Request::get("/local/page.txt").header("X-Forwarded-For", "203.0.113.9")).is(403);
}

#[test]
fn places_that_a_module_in_c_protected_are_closed() {
    let site = site(
        &["m", "q", "s", "plain"],
        "LoadModule auth_mellon_module x.so\nLoadModule qos_module x.so\nLoadModule security2_module x.so\n\
         <Location /m>\nMellonEnable \"auth\"\n</Location>\n<Location /q>\nQS_DenyPath +a deny x\n</Location>\n\
         <Location /s>\nSecRule REMOTE_ADDR x deny\n</Location>\n\
         <Location /plain>\nMellonEnable \"off\"\nSecRuleRemoveById 1\nSecRuleEngine Off\n</Location>\n",
    );
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let server = serve(site, "new/httpd.conf");
    for (folder, status) in [("m", 403), ("q", 403), ("s", 403), ("plain", 200)] {
        server.get(&format!("/{folder}/page.txt")).is(status);
    }
}

#[test]
fn a_line_that_sets_variables_for_rules_stays_until_somebody_decides() {
    let lines = "LoadModule geoip_module x.so\nGeoIPEnable On\n<Location /g>\nDeny from env=GEOIP_CN\n</Location>\n";
    let site = site(&[], lines);
    site.cameleer(["migrate", "old", "--to", "new"]).failed(1, "says what is left to decide");
    assert!(site.read("new/httpd.conf").contains("\nGeoIPEnable On\n"));
    let row = "@DIR@/old/httpd.conf:7: GeoIPEnable: belongs to GeoIP, see there; remove the line when no Deny, Require or \
        RewriteCond, here or in .htaccess, tests them";
    has_rows(&site, "new/report.txt", "To be decided", &[row]);
}

#[test]
fn the_sources_of_an_application_are_not_sent() {
    let site = site(
        &["wsgi", "ajp/WEB-INF", "inner", "jk", "plain"],
        "LoadModule wsgi_module x.so\nLoadModule jk_module x.so\nWSGIScriptAlias /wsgi @DIR@/htdocs/wsgi/app.wsgi\n\
         ProxyPass /ajp ajp://127.0.0.1:8009/\nJkMount /jk/* worker\n\
         <Location /inner>\nProxyPass ajp://127.0.0.1:8009/\n</Location>\n",
    );
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let server = serve(site, "new/httpd.conf");
    for folder in ["wsgi", "ajp/WEB-INF", "inner", "jk"] {
        server.get(&format!("/{folder}/page.txt")).is(403);
    }
    server.get("/plain/page.txt").is(200);
}

#[test]
fn sentences_fit_what_became_of_the_line() {
    let site = site(
        &[],
        "LoadModule proxy_ajp_module x.so\n<Location /c>\nLuaHookAccessChecker /x.lua check\n</Location>\n\
         <Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n",
    );
    site.write("htdocs/.htaccess", "AddHandler php5-script .php\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let report = site.read("new/report.txt");
    for part in [
        "LoadModule proxy_ajp_module: mod_proxy_ajp is not part of Cameleer",
        "LuaHookAccessChecker: is not supported: Lua is not run here; write a Perl handler",
        "/htdocs/.htaccess:1: AddHandler: PHP is not part of Cameleer, so requests for these files are answered 500",
    ] {
        assert!(report.contains(part), "{part}\n{report}");
    }
}
