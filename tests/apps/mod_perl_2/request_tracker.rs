//! Debian's Request Tracker 5 on SQLite, with the package's own file for mod_perl 2. `make applications` installs its
//! more than a hundred packages and runs this test.

use std::process::Command;

use super::no_answer_is_wrong_over_reloads;
use crate::support::{Finished, Request, Server, Site};

const SETTINGS: &str = "Set($rtname, 'camel');\nSet($Organization, 'example.org');\nSet($WebPath, '/rt');\nSet($WebDomain, '127.0.0.1');\n\
    Set($WebPort, @PORT@);\nSet($DatabaseType, 'SQLite');\nSet($DatabaseName, '@DIR@/db/rt');\nSet($LogToSyslog, '');\n\
    Set($LogToSTDERR, 'error');\nSet($MailCommand, 'testfile');\n1;\n";

/// `root:password`, the account that rt-setup-database creates.
const ROOT: &str = "Basic cm9vdDpwYXNzd29yZA==";

#[track_caller]
fn serve() -> Server {
    let site = Site::new().file("RT_SiteConfig.pm", SETTINGS);
    for name in ["db", "settings"] {
        std::fs::create_dir(site.path(name)).expect("a folder in TMPDIR");
    }
    let mut create = Command::new("rt-setup-database-5");
    create.args(["--action", "init", "--dba", "root", "--dba-password", ""]);
    create.env("RT_SITE_CONFIG", site.path("RT_SiteConfig.pm")).env("RT_SITE_CONFIG_DIR", site.path("settings"));
    Finished::of(&mut create).succeeded();
    Finished::of(Command::new("chmod").args(["-R", "a+rwX"]).arg(site.path("db"))).succeeded();
    let theirs = std::fs::read_to_string("/etc/request-tracker5/apache2-modperl2.conf").expect("the package's");
    site.write("rt.conf", &theirs.replace("/etc/request-tracker5/RT_SiteConfig.pm", "@DIR@/RT_SiteConfig.pm"));
    // RT's folder for compiled pages belongs to www-data.
    site.serve("User www-data\nGroup www-data\nPerlSetEnv RT_SITE_CONFIG_DIR \"@DIR@/settings\"\nInclude rt.conf")
}

fn rest(method: &str, path: &str, body: &str) -> Request {
    let request = Request::new(method, &format!("/rt/REST/2.0/{path}")).header("Authorization", ROOT);
    if body.is_empty() { request } else { request.header("Content-Type", "application/json").body(body) }
}

#[test]
#[ignore = "needs Debian's request-tracker5: `make applications`"]
fn tickets_are_made_found_and_shown_under_load_and_over_reloads() {
    let server = serve();
    assert!(server.text("/rt/").contains("<title>Login</title>"));
    server.send(Request::get("/rt/REST/2.0/rt")).is(401);
    for number in 1..=3 {
        let ticket = format!("{{\"Queue\":\"General\",\"Subject\":\"Camel {number}\",\"Content\":\"two humps: é\"}}");
        let made = server.send(rest("POST", "ticket", &ticket)).is(201);
        assert_eq!(made.header("location"), Some(format!("/rt/REST/2.0/ticket/{number}")));
    }
    let found = server.send(rest("GET", "tickets?query=Subject%20LIKE%20%27Camel%27", "")).is(200);
    assert!(found.text().contains("\"total\" : 3") || found.text().contains("\"total\":3"), "{found:?}");
    let entered = server.post("/rt/NoAuth/Login.html", "user=root&pass=password&next=").is(200);
    let cookie = entered.header("set-cookie").expect("a session");
    let cookie = cookie.split(';').next().expect("name and value").to_owned();
    let see = |target: &str| Request::get(target).header("Cookie", &cookie);
    assert!(server.send(see("/rt/")).is(200).text().contains("<title>RT at a glance</title>"));
    let shown = server.send(see("/rt/Ticket/Display.html?id=2")).is(200).text();
    assert!(shown.contains("<title>#2: Camel 2</title>"), "{shown}");
    let body = server.send(rest("GET", "ticket/2/history?fields=Type,Data", "")).is(200);
    assert!(body.text().contains("Create"), "{body:?}");
    let stranger = server.get("/rt/Ticket/Display.html?id=2").is(302);
    assert!(stranger.header("location").is_some_and(|to| to.contains("/rt/NoAuth/Login.html?next=")), "{stranger:?}");
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (rest("GET", "ticket/1", ""), |r| r.status == 200 && r.text().contains("Camel 1")),
            (see("/rt/Ticket/Display.html?id=2"), |r| {
                r.status == 200 && r.text().contains("<title>#2: Camel 2</title>")
            }),
            (Request::get("/rt/static/images/bpslogo.png"), |r| r.status == 200),
        ],
    );
}
