//! mod_status and mod_info: mod/mod_status.html, mod/mod_info.html

use std::collections::HashMap;

use crate::support::{Connection, Request, Server, Site, serve_echo_script as serve, until};

const PLACES: &str = "ExtendedStatus On\n<Location /server-status>\nSetHandler server-status\n</Location>\n\
    <Location /server-info>\nSetHandler server-info\n</Location>\n";

fn numbers(server: &Server) -> HashMap<String, String> {
    let page = server.get("/server-status?auto").is(200);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/plain")), "{page:?}");
    let text = page.text();
    let pairs = text.lines().filter_map(|line| line.split_once(": "));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// "Machine Readable Status File": server-status?auto, "useful when automatically run". The names of values are those
/// of httpd 2.4.
#[test]
fn programs_read_how_busy_the_server_is() {
    let server = Site::new().file("htdocs/plain.txt", "plain\n").serve(PLACES);
    server.until_idle(2);
    server.get("/plain.txt").is(200);
    until("the request is counted", || numbers(&server)["Total Accesses"] != "0");
    let values = numbers(&server);
    for name in [
        "ServerVersion",
        "Server Built",
        "CPUUser",
        "CPUChildrenSystem",
        "CPULoad",
        "CurrentTime",
        "RestartTime",
        "ParentServerConfigGeneration",
        "ServerUptimeSeconds",
        "ServerUptime",
        "Load1",
        "Total kBytes",
        "Total Duration",
        "Uptime",
        "ReqPerSec",
        "BytesPerSec",
        "BytesPerReq",
        "DurationPerReq",
        "GracefulWorkers",
        "ConnsTotal",
    ] {
        assert!(values.contains_key(name), "{name}: {values:?}");
    }
    assert_eq!((values["BusyWorkers"].as_str(), values["IdleWorkers"].as_str()), ("0", "2"));
    assert_eq!(values["Scoreboard"], "__");
    assert!(values["Total Accesses"].parse::<u64>().is_ok_and(|count| count >= 2), "{values:?}");
}

/// All lines of httpd's prefork, in httpd's order. Each value has the same type as httpd's: a number, a time, words.
#[test]
fn programs_that_know_httpds_lines_find_them_in_its_order() {
    let server = Site::new().file("htdocs/plain.txt", "plain\n").serve(PLACES);
    server.until_idle(2);
    let ours = server.get("/server-status?auto").is(200).text();
    let mut lines = ours.lines().skip(1).filter_map(|line| line.split_once(": "));
    for (name, kind) in [
        ("ServerVersion", r"^\S+/\d"),
        ("ServerMPM", r"^\w+$"),
        ("Server Built", r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$"),
        ("CurrentTime", r"^\w+day, \d\d-\w{3}-\d{4} \d\d:\d\d:\d\d UTC$"),
        ("RestartTime", r"^\w+day, \d\d-\w{3}-\d{4} \d\d:\d\d:\d\d UTC$"),
        ("ParentServerConfigGeneration", r"^\d+$"),
        ("ParentServerMPMGeneration", r"^\d+$"),
        ("ServerUptimeSeconds", r"^\d+$"),
        ("ServerUptime", r"^(\d+ seconds?)?$"),
        ("Load1", r"^\d+\.\d\d$"),
        ("Load5", r"^\d+\.\d\d$"),
        ("Load15", r"^\d+\.\d\d$"),
        ("Total Accesses", r"^\d+$"),
        ("Total kBytes", r"^\d+$"),
        ("Total Duration", r"^\d+$"),
        ("CPUUser", NUMBER),
        ("CPUSystem", NUMBER),
        ("CPUChildrenUser", NUMBER),
        ("CPUChildrenSystem", NUMBER),
        ("Uptime", r"^\d+$"),
        ("ReqPerSec", NUMBER),
        ("BytesPerSec", NUMBER),
        ("BytesPerReq", NUMBER),
        ("DurationPerReq", NUMBER),
        ("BusyWorkers", r"^\d+$"),
        ("GracefulWorkers", r"^\d+$"),
        ("IdleWorkers", r"^\d+$"),
        ("Scoreboard", r"^[_SRWKDCLGI.]+$"),
    ] {
        let value =
            lines.find(|(found, _)| *found == name).unwrap_or_else(|| panic!("{name}, after those before: {ours}")).1;
        assert!(regex::Regex::new(kind).expect("a pattern").is_match(value), "{name}: {value:?}");
    }
}

/// A number as APR's `%g` formats it.
const NUMBER: &str = r"^(\d+(\.\d+)?|\.\d+)(e[+-]\d\d)?$";

/// "Automatic Updates": refresh=N; "notable": without tables.
#[test]
fn the_page_can_refresh_itself_and_do_without_tables() {
    let server = serve(PLACES);
    let page = server.get("/server-status?refresh=7").is(200);
    assert_eq!(page.header("refresh").as_deref(), Some("7"));
    assert!(page.text().contains("<table>"));
    let page = server.get("/server-status?notable").is(200);
    assert_eq!(page.header("refresh"), None);
    assert!(!page.text().contains("<table>") && page.text().contains("<b>Server 0-"), "{}", page.text());
    server.post("/server-status", "x").is(405);
    let head = server.send(Request::new("HEAD", "/server-status?auto")).is(200);
    assert!(head.body.is_empty());
}

/// The page shows "a request being processed"; its target must not act as HTML in the reader's browser.
#[test]
fn requests_in_the_status_are_escaped() {
    let server = serve(&format!(
        "{PLACES}<Perl>\nsub My::wait {{ sleep 600 }}\n</Perl>\n\
         <Location /wait>\nSetHandler perl-script\nPerlHandler My::wait\n</Location>"
    ));
    let mut waiting: Connection = server.connect();
    waiting.raw("GET /wait/%3cscript%3e'%22%1b%5b31m HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the page shows the request", || server.text("/server-status").contains("/wait/"));
    let page = server.text("/server-status");
    assert!(page.contains("/wait/&lt;script&gt;&#39;"), "{page}");
    assert!(!page.contains("<script>") && !page.contains('\x1b'), "{page}");
    assert_eq!(numbers(&server)["BusyWorkers"], "1");
    server.workers().iter().filter(|(_, state)| state == "Busy").for_each(|(pid, _)| {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), nix::sys::signal::Signal::SIGKILL).expect("a worker");
    });
}

/// "Security": access rules and Perl phases of the place apply.
#[test]
fn access_rules_and_perl_phases_apply_to_the_pages() {
    let server = serve(
        "<Location /server-status>\nSetHandler server-status\nDeny from all\n</Location>\n\
         <Perl>\nsub My::guard { shift->args eq 'auto' ? 0 : 403 }\n</Perl>\n\
         <Location /guarded>\nSetHandler server-status\nPerlAccessHandler My::guard\n</Location>\n\
         <Location /info>\nSetHandler server-info\nPerlAccessHandler My::guard\n</Location>",
    );
    server.get("/server-status").is(403);
    server.get("/guarded?x").is(403);
    assert!(server.text("/guarded?auto").contains("Scoreboard: "));
    server.get("/info").is(403);
}

/// A `.htaccess` file must not enable a page about the whole server.
#[test]
fn a_htaccess_file_cannot_open_the_page() {
    let server = serve("<Directory \"@DIR@/htdocs\">\nAllowOverride FileInfo\n</Directory>");
    server.site.write("htdocs/own/.htaccess", "SetHandler server-status\n");
    server.get("/own/x").is(500);
    server.logged("shows the whole server");
}

/// mod_info: "a comprehensive overview of the server configuration"; ?config, ?server, ?list.
#[test]
fn the_configuration_is_shown_with_its_lines() {
    let server = serve(&format!(
        "{PLACES}<Directory />\nOptions FollowSymLinks\nAuthLDAPBindPassword hush\nAuthBasicFake ana hush\n</Directory>\n\
         DBDParams \"host=x password=hush\"\nMDHttpProxy http://ana:hush@proxy.example:3128\n\
         MDExternalAccountBinding ana hush\nAddType text/x-own \"<own>\""
    ));
    let page = server.text("/server-info?config");
    for text in ["&lt;Location /server-info&gt;  # ", "  SetHandler server-info  # ", "AddType text/x-own &lt;own&gt;"]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    for name in ["AuthLDAPBindPassword", "AuthBasicFake", "DBDParams", "MDHttpProxy", "MDExternalAccountBinding"] {
        assert!(page.contains(&format!("{name} (hidden)")), "{name}: {page}");
    }
    assert!(!page.contains("hush"), "{page}");
    assert!(server.text("/server-info").contains("mod_status"));
    assert!(!server.text("/server-info?list").contains("AddType"));
}
