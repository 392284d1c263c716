//! `SetEnv`, `SetEnvIf`, `BrowserMatch`, and their uses.

use crate::support::{Request, serve_env_handler as serve, until};

#[track_caller]
fn has(text: &str, line: &str) {
    assert!(text.lines().any(|known| known == line), "{line}: {text}");
}

#[test]
fn programs_find_the_variables_in_their_environment() {
    let server = serve(
        "SetEnv FIXED \"a value\"\nSetEnv EMPTY\nSetEnv OUTER x\nPassEnv LC_ALL\nSetEnvIf X-Kind \"^(.)(.*)$\" kind=$2$1 seen\n\
         SetEnvIf kind ^bca$ again=yes\nSetEnvIfNoCase Request_Method get method\nSetEnvIf Request_URI ^/none never\n\
         SetEnvIf Remote_Addr ^127\\. near !seen\nSetEnvIf Server_Addr 127.0.0.1 at_home\nSetEnvIf Request_Protocol HTTP/1.1 modern\n\
         BrowserMatchNoCase ^ROBOT robot\n<Location /perl>\nUnsetEnv OUTER\nSetEnv INNER y\n</Location>",
    );
    let request = Request::get("/perl").header("X-Kind", "abc").header("User-Agent", "robot");
    let text = server.send(request).text();
    for line in [
        "FIXED=a value",
        "EMPTY=",
        "LC_ALL=C",
        "kind=bca",
        "again=yes",
        "method=1",
        "near=1",
        "at_home=1",
        "modern=1",
        "robot=1",
        "INNER=y",
    ] {
        has(&text, line);
    }
    for name in ["never=", "seen=", "OUTER="] {
        assert!(!text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
    assert!(!server.get("/perl").text().contains("robot="), "a variable outlives its request");
}

#[test]
fn access_can_depend_on_a_variable() {
    let server = serve(
        "SetEnvIf User-Agent ^Friend friend\n<LocationMatch ^/(perl|page)>\nOrder deny,allow\nDeny from all\nAllow from env=friend\n\
         </LocationMatch>",
    );
    for path in ["/perl", "/page.html"] {
        server.get(path).is(403);
        server.send(Request::get(path).header("User-Agent", "Friend")).is(200);
    }
}

#[test]
fn expressions_compare_as_httpd_does() {
    let server = serve(
        "<Location /https>\nRequire expr \"%{HTTPS} != 'off'\"\n</Location>\n<Location /plain>\nRequire expr \"%{HTTPS} == 'off'\"\n\
         </Location>\n<Location /number>\nRequire expr \"%{HTTP:X-Version} -ge 12 && %{HTTP:X-Version} -lt 99999999999999999999\"\n\
         </Location>\nHeader always set X-Https \"%{HTTPS}s\"\nRewriteEngine On\nRewriteCond %{HTTPS} off\nRewriteRule ^/moved - [F]",
    );
    server.get("/https").is(403);
    let answer = server.get("/plain").is(404);
    assert_eq!(answer.header("X-Https").as_deref(), Some("off"));
    server.get("/moved").is(403);
    for (version, status) in [("12", 404), (" 12abc", 404), ("11.9", 403), ("-13", 403), ("abc", 403)] {
        server.send(Request::get("/number").header("X-Version", version)).is(status);
    }
}

#[test]
fn a_name_can_be_looked_for() {
    let server =
        serve("HostnameLookups On\nSetEnvIf Remote_Host ^localhost named=$0\nSetEnvIf Remote_Addr ^127 address");
    let text = server.text("/perl");
    has(&text, "address=1");
    let named = text.lines().any(|line| line.starts_with("named=localhost"));
    // The name depends on /etc/hosts.
    assert_eq!(named, text.lines().any(|line| line.starts_with("REMOTE_HOST=localhost")), "{text}");
}

#[test]
fn a_client_cannot_forge_a_variable() {
    let server = serve("SetEnvIf X-Kind (.*) kind=$1");
    let text = server.send(Request::get("/perl").header("X-Kind", "a=b\tREMOTE_USER=root")).text();
    has(&text, "kind=a=b\tREMOTE_USER=root");
    assert!(!text.lines().any(|line| line.starts_with("REMOTE_USER=")), "{text}");
}

#[test]
fn a_connection_is_closed_for_clients_that_cannot_keep_it() {
    let server = serve("BrowserMatch ^Mozilla/2 nokeepalive\nBrowserMatch \"RealPlayer 4\" force-response-1.0");
    for path in ["/page.html", "/perl"] {
        let mut connection = server.connect();
        let answer = connection.ask(Request::get(path).header("User-Agent", "Mozilla/2.0"));
        assert_eq!(answer.header("connection").as_deref(), Some("close"), "{path}");
        connection.is_closed();
        let mut connection = server.connect();
        connection.ask(Request::get(path).header("User-Agent", "Mozilla/5.0")).is(200);
        connection.ask(Request::get(path)).is(200);
        let mut old = server.connect();
        old.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: RealPlayer 4.0\r\n\r\n"));
        let text = String::from_utf8_lossy(&old.rest()).into_owned();
        assert!(text.starts_with("HTTP/1.0 200"), "{text}");
        assert!(!text.to_lowercase().contains("transfer-encoding"), "{text}");
    }
}

#[test]
fn an_access_log_can_leave_requests_out() {
    let server = serve(
        "SetEnvIf Request_URI \\.html$ page\nSetEnv fixed\nCustomLog pages.log %U env=page\nCustomLog others.log %U env=!page\n\
         CustomLog all.log %U env=fixed",
    );
    for path in ["/page.html", "/plain.txt", "/perl", "/none.html"] {
        server.get(path);
    }
    until("all four are logged", || server.site.read("all.log").lines().count() == 4);
    until("the pages are logged", || server.site.read("pages.log") == "/page.html\n/none.html\n");
    until("the others are logged", || server.site.read("others.log") == "/plain.txt\n/perl\n");
}
