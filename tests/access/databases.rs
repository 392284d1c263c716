//! Users and groups in databases: DBM files of Debian's htdbm, SQLite, PostgreSQL.

use std::process::Command;

use super::{PLACES, conf, get_as, site};
use crate::support::{Database, Finished, POSTGRES, Server, Site, own_address, until};

/// Runs a program in the site's folder. The tests need the packages of pkg/debian-packages/test.txt.
#[track_caller]
fn run(site: &Site, program: &str, arguments: &[&str]) -> String {
    Finished::of(Command::new(program).args(arguments).current_dir(site.path(""))).succeeded().out
}

/// The hash of a password, as htpasswd makes it.
fn hash(password: &str) -> String {
    let made = Finished::of(Command::new("htpasswd").args(["-nbs", "x", password])).succeeded().out;
    made.trim().split_once(':').expect("user and hash").1.to_owned()
}

/// Requests each place of [`conf`] as a user, and compares the status.
#[track_caller]
fn answers(server: &Server, user: &str, password: &str, status: u16) {
    for place in PLACES {
        assert_eq!(server.send(get_as(place, user, password)).status, status, "{place} as {user}");
    }
}

const BASIC: &str = "AuthType Basic\nAuthName x\n";

#[test]
fn a_dbm_file_of_each_format_has_users_and_changes_take_effect() {
    for format in ["SDBM", "DB", "GDBM", "default"] {
        let site = site();
        run(&site, "htdbm", &["-bcs", &format!("-T{format}"), "users", "ana", "secret"]);
        run(&site, "htdbm", &["-bs", &format!("-T{format}"), "users", "ben", "word"]);
        run(&site, "sh", &["-c", "chmod 644 users*"]);
        let rules = format!(
            "{BASIC}AuthBasicProvider dbm\nAuthDBMUserFile @DIR@/users\nAuthDBMType {format}\nRequire valid-user"
        );
        let server = site.serve(&conf(&rules));
        answers(&server, "ana", "secret", 200);
        answers(&server, "ben", "word", 200);
        answers(&server, "ben", "secret", 401);
        answers(&server, "eve", "secret", 401);
        run(&server.site, "htdbm", &["-bs", &format!("-T{format}"), "users", "eve", "new"]);
        until("the new user is known", || server.send(get_as("/place/", "eve", "new")).status == 200);
    }
}

#[test]
fn groups_of_a_dbm_file_decide_and_a_missing_or_damaged_file_closes_the_place() {
    let site = site().file("groups.txt", "ana staff,www\nben others\n").file("damaged", "x");
    run(&site, "htdbm", &["-bcs", "-TDB", "users", "ana", "secret"]);
    run(&site, "htdbm", &["-bs", "-TDB", "users", "ben", "word"]);
    run(&site, "httxt2dbm", &["-f", "GDBM", "-i", "groups.txt", "-o", "groups"]);
    run(&site, "sh", &["-c", "chmod 644 users* groups*"]);
    let users = format!("{BASIC}AuthBasicProvider dbm\nAuthDBMUserFile @DIR@/users\n");
    let rules = format!("{users}AuthDBMGroupFile @DIR@/groups\nAuthzDBMType GDBM\nRequire dbm-group guests staff");
    let mut places = conf(&rules);
    for (name, file) in [("none", "missing"), ("damaged", "damaged")] {
        places += &format!("<Location /place/{name}>\nAuthDBMGroupFile @DIR@/{file}\n</Location>\n");
    }
    let server = site.serve(&places);
    answers(&server, "ana", "secret", 200);
    answers(&server, "ben", "word", 401);
    for (place, why) in [("none", "missing: No such file"), ("damaged", "damaged: not a usable DBM file")] {
        server.send(get_as(&format!("/place/{place}"), "ana", "secret")).is(500);
        server.logged(&format!("/{why}"));
    }
}

/// A site with an SQLite database of users and groups.
fn with_sqlite() -> Site {
    let site = site();
    let rows = format!(
        "create table users (name text, hash text, phone text); insert into users values ('ana', '{}', '12'), ('ben', '{}', null);
         create table teams (name text, team text); insert into teams values ('ana', 'staff'), ('ana', 'www'), ('ben', 'others');",
        hash("secret"),
        hash("word")
    );
    run(&site, "sqlite3", &["users.sqlite", &rows]);
    site
}

const QUERIES: &str = "AuthType Basic\nAuthName x\nAuthBasicProvider dbd\n\
    AuthDBDUserPWQuery \"SELECT hash, phone FROM users WHERE name = %s\"\n\
    AuthzDBDQuery \"SELECT team FROM teams WHERE name = %s\"\n";

/// Makes a table with columns for statements, in a folder that the server's user may write.
fn with_logins(site: Site) -> Site {
    let columns = "alter table users add column logins int default 0; alter table users add column page text; \
        update users set page = '/start?a'";
    run(&site, "sqlite3", &["users.sqlite", columns]);
    run(&site, "sh", &["-c", "mkdir -m 777 db && chmod 666 users.sqlite && mv users.sqlite db"]);
    site
}

fn logins(server: &Server) -> String {
    run(&server.site, "sqlite3", &["db/users.sqlite", "select name, logins from users order by name"])
}

#[test]
fn a_statement_notes_that_users_come_and_go_and_redirects_them() {
    let site =
        with_sqlite().file("htdocs/in/a.txt", "in").file("htdocs/out/a.txt", "out").file("htdocs/bad/a.txt", "bad");
    let site = with_logins(site);
    let place = |name: &str, rules: &str| {
        format!(
            "<Location /{name}>\n{BASIC}AuthBasicProvider dbd\nAuthDBDUserPWQuery \"SELECT hash FROM users WHERE name = %s\"\n\
             {rules}\n</Location>\n"
        )
    };
    let server = site.serve(&format!(
        "DBDriver sqlite3\nDBDParams @DIR@/db/users.sqlite\n{}{}{}",
        place(
            "in",
            "AuthzDBDQuery \"UPDATE users SET logins = logins + 1 WHERE name = %s\"\nRequire dbd-login\n\
             AuthzDBDRedirectQuery \"SELECT page FROM users WHERE name = %s\""
        ),
        place(
            "out",
            "AuthzDBDQuery \"UPDATE users SET logins = 0 WHERE name = %s\"\nRequire dbd-logout\nAuthzDBDLoginToReferer On"
        ),
        place("bad", "AuthzDBDQuery \"UPDATE nowhere SET logins = 0 WHERE name = %s\"\nRequire dbd-login"),
    ));
    let logins = || logins(&server);
    server.get("/in/a.txt").is(401);
    server.send(get_as("/in/a.txt", "ana", "wrong")).is(401);
    assert_eq!(logins(), "ana|0\nben|0\n");
    let entered = server.send(get_as("/in/a.txt", "ana", "secret")).is(302);
    assert_eq!((entered.header("Location").as_deref(), &*logins()), (Some("/start?a"), "ana|1\nben|0\n"));
    assert_eq!(server.send(get_as("/out/a.txt", "ana", "secret")).is(200).text(), "out", "no page before");
    let left = server.send(get_as("/out/a.txt", "ana", "secret").header("Referer", "http://x.example/before")).is(302);
    assert_eq!((left.header("Location").as_deref(), &*logins()), (Some("http://x.example/before"), "ana|0\nben|0\n"));
    server.send(get_as("/bad/a.txt", "ana", "secret")).is(500);
    server.logged("AuthzDBDQuery: SQLite");
}

/// An index, rules of the folder, variants and a page's parts are checked beside the requested path.
#[test]
fn a_statement_is_executed_once_for_a_request_and_not_for_what_is_only_judged() {
    let site = with_sqlite()
        .file("htdocs/once/index.html", "index")
        .file("htdocs/once/page.html", "page")
        .file("htdocs/once/part.txt", "part")
        .file("htdocs/once/whole.shtml", "<!--#include virtual=\"part.txt\"--> <!--#include virtual=\"part.txt\"-->")
        .file("htdocs/open/judge.shtml", "<!--#if expr=\"-A '/once/page.html'\" -->may<!--#endif -->")
        .file("htdocs/open/a.txt", "open");
    let server = with_logins(site).serve(&format!(
        "DBDriver sqlite3\nDBDParams @DIR@/db/users.sqlite\nAddOutputFilter INCLUDES .shtml\n\
         <Directory @DIR@/htdocs>\nOptions +MultiViews +Includes\nRewriteEngine On\nRewriteRule ^none$ - [F]\n\
         RewriteCond /once/page.html -U\nRewriteRule ^open/a.txt$ - [E=judged:yes]\nHeader set Judged %{{judged}}e\n\
         </Directory>\n\
         <Location /once>\n{BASIC}AuthBasicProvider dbd\n\
         AuthDBDUserPWQuery \"SELECT hash FROM users WHERE name = %s\"\n\
         AuthzDBDQuery \"UPDATE users SET logins = logins + 1 WHERE name = %s\"\nRequire dbd-login\n</Location>\n"
    ));
    let visits =
        [("/once/", "index"), ("/once/page", "page"), ("/once/page.html", "page"), ("/once/whole.shtml", "part part")];
    for (number, (target, text)) in (1..).zip(visits) {
        assert_eq!(server.send(get_as(target, "ana", "secret")).is(200).text(), text, "{target}");
        assert_eq!(logins(&server), format!("ana|{number}\nben|0\n"), "{target}");
    }
    let judged = server.send(get_as("/open/a.txt", "ana", "secret")).is(200);
    assert_eq!(judged.header("Judged").as_deref(), Some("yes"));
    assert_eq!(server.send(get_as("/open/judge.shtml", "ana", "secret")).is(200).text(), "may");
    assert_eq!(logins(&server), "ana|4\nben|0\n");
}

#[test]
fn a_query_finds_users_and_groups_in_sqlite() {
    let conf = conf(&format!("{QUERIES}Require dbd-group guests staff"));
    let server = with_sqlite().serve(&format!("DBDriver sqlite3\nDBDParams users.sqlite\n{conf}"));
    answers(&server, "ana", "secret", 200);
    answers(&server, "ana", "word", 401);
    answers(&server, "ben", "word", 401);
    answers(&server, "x' OR '1'='1", "word", 401);
    answers(&server, "ana\0", "secret", 401);
    run(&server.site, "sqlite3", &["users.sqlite", "insert into teams values ('ben', 'staff')"]);
    answers(&server, "ben", "word", 200);
}

#[test]
fn a_place_where_perl_decides_about_users_asks_the_database_as_well() {
    let conf = conf(&format!("{QUERIES}PerlAuthzHandler \"sub {{ -1 }}\"\nRequire dbd-group staff"));
    let server = with_sqlite().serve(&format!("DBDriver sqlite3\nDBDParams users.sqlite\n{conf}"));
    answers(&server, "ana", "secret", 200);
    answers(&server, "ana", "word", 401);
    answers(&server, "ben", "word", 401);
}

#[test]
fn an_unreachable_database_refuses_all_and_is_named_in_the_log() {
    let place = |name: &str, query: &str| {
        format!(
            "<Location /place/{name}>\n{BASIC}AuthBasicProvider dbd\nAuthDBDUserPWQuery \"{query}\"\nRequire valid-user\n</Location>\n"
        )
    };
    let conf = place("wrong", "SELECT none FROM users WHERE name = %s")
        + &place("endless", "WITH RECURSIVE n(x) AS (SELECT %s UNION ALL SELECT x FROM n) SELECT max(x) FROM n");
    let server = with_sqlite().serve(&format!("DBDriver sqlite3\nDBDParams users.sqlite\n{conf}"));
    for (name, why) in [("wrong", "no such column: none"), ("endless", "the query took too long")] {
        server.send(get_as(&format!("/place/{name}"), "ana", "secret")).is(500);
        server.logged(why);
    }
    let missing = site().serve(&format!("DBDriver sqlite3\nDBDParams missing\n{}", place("x", "SELECT %s")));
    missing.send(get_as("/place/x", "ana", "secret")).is(500);
    missing.logged("missing: No such file");
}

#[test]
fn a_query_finds_users_and_groups_in_postgresql_also_after_its_restart() {
    let site = site();
    let mut database = Database::start(&site, POSTGRES);
    let host = site.path("database").display().to_string();
    let tables = format!(
        "create table users (name varchar(20) primary key, hash text, phone int); insert into users values ('ana', '{}', 12);
         create table teams (name char(10), team text); insert into teams values ('ana', 'staff');
         grant select on users, teams to ledger",
        hash("secret")
    );
    run(&site, "psql", &["-h", &host, "-U", "postgres", "-d", "ledger", "-c", &tables]);
    let conf = conf(&format!("{QUERIES}Require dbd-group staff"));
    let server = site.serve(&format!(
        "DBDriver pgsql\nDBDParams \"host={host} dbname=ledger user=ledger\"\nDBDInitSQL \"SET application_name = 'users'\"\n{conf}"
    ));
    answers(&server, "ana", "secret", 200);
    answers(&server, "ana", "word", 401);
    answers(&server, "x' OR '1'='1", "word", 401);
    database.restart();
    answers(&server, "ana", "secret", 200);
    drop(database);
    answers(&server, "ana", "secret", 500);
    server.logged("AuthDBDUserPWQuery: PostgreSQL database \"ledger\"");
}

#[test]
fn a_postgresql_server_is_trusted_by_its_certificate() {
    let site = site().certificate("db", &["localhost"]);
    let mut database = Database::start(&site, POSTGRES);
    let (address, folder) = (own_address(), site.path("database").display().to_string());
    let tables = format!(
        "create table users (name text, hash text); insert into users values ('ana', '{}');
         create role plain login; grant select on users to ledger, plain",
        hash("secret")
    );
    run(&site, "psql", &["-h", &folder, "-U", "postgres", "-d", "ledger", "-c", &tables]);
    database.restart_with_tls(&site, &address, "hostnossl all plain all trust\nhostssl all ledger all trust");
    let cases = [
        ("", "localhost", 200),
        ("sslmode=disable", "localhost", 500),
        ("sslmode=require", "localhost", 200),
        ("sslmode=require", "other.example", 200),
        ("sslmode=require sslrootcert=@DIR@/db.crt", "other.example", 200),
        ("sslmode=verify-ca sslrootcert=@DIR@/db.crt", "other.example", 200),
        ("sslmode=verify-ca", "localhost", 500),
        ("sslmode=verify-full sslrootcert=@DIR@/db.crt", "localhost", 200),
        ("sslmode=verify-full sslrootcert=@DIR@/db.crt", "other.example", 500),
        ("sslmode=verify-full sslrootcert=@DIR@/none.crt", "localhost", 500),
        ("sslrootcert=system", "localhost", 500),
        ("sslmode=require sslrootcert=system", "localhost", 500),
        ("", "", 200),
        ("sslmode=verify-ca sslrootcert=@DIR@/db.crt", "", 200),
        ("user=plain", "localhost", 200),
        ("user=plain", "", 200),
        ("user=plain sslmode=require", "localhost", 500),
        ("sslmode=sometimes", "localhost", 500),
    ];
    let hosts = cases.iter().enumerate().map(|(number, (words, name, _))| {
        let host = if name.is_empty() { String::new() } else { format!("host={name}") };
        format!(
            "<VirtualHost *:@PORT@>\nServerName h{number}.example\nDocumentRoot htdocs\nDBDriver pgsql\n\
             DBDParams \"{host} hostaddr={address} dbname=ledger user=ledger {words}\"\n\
             <Location /place>\n{BASIC}AuthBasicProvider dbd\n\
             AuthDBDUserPWQuery \"SELECT hash FROM users WHERE name = %s\"\nRequire valid-user\n</Location>\n</VirtualHost>\n"
        )
    });
    let server = site.serve(&hosts.collect::<String>());
    for (number, (words, name, expected)) in cases.iter().enumerate() {
        let request = get_as("/place/", "ana", "secret").header("Host", &format!("h{number}.example"));
        assert_eq!(server.send(request).status, *expected, "{name} {words}");
    }
    server.logged("sslmode=sometimes: expected disable, allow, prefer, require, verify-ca or verify-full");
    server.logged("sslrootcert");
}

#[test]
fn providers_are_tried_in_order_also_by_other_names() {
    let line = |user: &str, password: &str| format!("{user}:{}\n", hash(password));
    let site = with_sqlite()
        .file("users", &(line("carl", "file") + &line("ana", "other")))
        .file("more", &line("dora", "more"))
        .file("groups", "staff: dora carl\n");
    let conf = conf(
        "AuthType Basic\nAuthName x\nAuthBasicProvider file more dbd\nAuthUserFile @DIR@/users\n\
         AuthDBDUserPWQuery \"SELECT hash FROM users WHERE name = %s\"\n\
         <RequireAny>\nRequire team\nRequire user ben ana\n</RequireAny>",
    );
    let server = site.serve(&format!(
        "DBDriver sqlite3\nDBDParams users.sqlite\n\
         <AuthnProviderAlias file more>\nAuthUserFile @DIR@/more\n</AuthnProviderAlias>\n\
         <AuthzProviderAlias group team staff>\nAuthGroupFile @DIR@/groups\n</AuthzProviderAlias>\n{conf}"
    ));
    for (user, password, status) in [
        ("carl", "file", 200),
        ("dora", "more", 200),
        ("ben", "word", 200),
        ("ana", "other", 200),
        // The first provider that knows the user decides.
        ("ana", "secret", 401),
        ("eve", "more", 401),
    ] {
        answers(&server, user, password, status);
    }
}

#[test]
fn cached_passwords_are_found_without_their_file_but_never_from_another_htaccess() {
    let line = |user: &str, password: &str| format!("{user}:{}\n", hash(password));
    let cached = "AuthType Basic\nAuthName x\nAuthBasicProvider socache file\nAuthnCacheProvideFor file\n\
        AuthnCacheContext shared\nRequire valid-user\n";
    let server = site()
        .file("users", &line("ana", "secret"))
        .file("own", &line("boss", "mine"))
        .file("htdocs/own/.htaccess", &format!("{cached}AuthUserFile @DIR@/own\n"))
        .file("htdocs/own/index.html", "own")
        .serve(&format!(
            "FrontThreads 1\n<Directory @DIR@/htdocs/own>\nAllowOverride AuthConfig\n</Directory>\n\
             <Location /place>\n{cached}AuthUserFile @DIR@/users\n</Location>\n\
             <Location /place/deep>\nAuthBasicProvider file\n</Location>\n"
        ));
    server.send(get_as("/own/", "boss", "mine")).is(200);
    server.send(get_as("/place/", "boss", "mine")).is(401);
    server.send(get_as("/place/", "ana", "secret")).is(200);
    std::fs::remove_file(server.site.path("users")).expect("our own file");
    until("the file is known to be gone", || server.send(get_as("/place/deep/a.txt", "ana", "secret")).status == 500);
    server.send(get_as("/place/", "ana", "wrong")).is(401);
    server.send(get_as("/place/", "ana", "secret")).is(200);
    server.reload().succeeded();
    until("the cache of the old configuration is gone", || {
        server.send(get_as("/place/", "ana", "secret")).status == 500
    });
}

/// mod_authn_core.html#authnprovideralias: the alias's settings apply over those of the place, not of the main server.
#[test]
fn an_alias_has_the_settings_of_the_place_below_its_own() {
    let site = with_sqlite()
        .file("htdocs/place/allowed", "")
        .file("htdocs/place/team", "")
        .file("strict", "staff: ana\n")
        .file("loose", "staff: ana ben\nbanned: ben\n");
    run(&site, "sqlite3", &["main.sqlite", "create table users (name text, hash text, phone text)"]);
    let own =
        "AuthType Basic\nAuthName x\nAuthBasicProvider sql\nAuthGroupFile @DIR@/loose\nSetEnvIf Host . TEAM=staff";
    let place = |path: &str, lines: &str| format!("<Location /place/{path}>\n{lines}\n</Location>\n");
    let server = site.serve(&format!(
        "DBDriver sqlite3\nDBDParams main.sqlite\n\
         <AuthnProviderAlias dbd sql>\nAuthDBDUserPWQuery \"SELECT hash FROM users WHERE name = %s\"\n</AuthnProviderAlias>\n\
         <AuthzProviderAlias group banned banned>\n</AuthzProviderAlias>\n\
         <AuthzProviderAlias group team \"%{{reqenv:TEAM}}\">\nAuthGroupFile @DIR@/strict\n</AuthzProviderAlias>\n\
         <VirtualHost *>\nServerName v.example\nDBDParams users.sqlite\n<Location /place>\n{own}\n</Location>\n{}{}</VirtualHost>\n",
        place("allowed", "<RequireAll>\nRequire valid-user\nRequire not banned\n</RequireAll>"),
        place("team", "Require team"),
    ));
    let ask = |path: &str, user: &str, password: &str| {
        let request = get_as(&format!("/place/{path}"), user, password);
        server.send(request.header("Host", "v.example")).status
    };
    assert_eq!([ask("allowed", "ana", "secret"), ask("team", "ana", "secret")], [200, 200]);
    assert_eq!([ask("allowed", "ben", "word"), ask("team", "ben", "word")], [401, 401]);
}

/// A long chain of `not` must not use up the stack.
#[test]
fn a_requirement_is_negated_once() {
    let text = format!("Require {}valid-user\n", "not ".repeat(13_000));
    let server = site()
        .file("htdocs/deep/.htaccess", &text)
        .file("htdocs/deep/a.txt", "a")
        .serve("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n");
    server.get("/deep/a.txt").is(500);
    server.logged("Require: expected a requirement after not, got \"not\"");
}
