//! The server's name: `ServerTokens`, `ServerSignature`, `ServerAdmin`, `UseCanonicalName`, `IdentityCheck`.

use nix::sys::signal::Signal;

use crate::support::{Request, Server, Site, children, eventually, signal};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A handler that prints the server's name; `/perl/missing` leaves the page to the server.
const MY: &str = "package My;\nuse Apache::Constants qw(OK NOT_FOUND);\n\
    sub handler { my $r = shift; return NOT_FOUND if $r->uri =~ /missing/; $r->send_http_header('text/plain');\n\
    $r->print(join '|', $ENV{SERVER_SOFTWARE}, $r->server->server_software); OK }\n\
    sub name { my $r = shift; $r->send_http_header('text/plain');\n\
    $r->print(join '|', $r->get_server_name, $r->get_server_port, @ENV{qw(SERVER_NAME SERVER_PORT)}); OK }\n1;\n";

fn site() -> Site {
    Site::new().file("lib/My.pm", MY).file("htdocs/a.txt", "a").file("htdocs/list/b.txt", "b")
}

fn conf(lines: &str) -> String {
    format!(
        "{lines}\nPerlLib lib\nPerlModule My\n<Location /perl>\nSetHandler perl-script\nPerlHandler My\n</Location>\n\
         <Location /name>\nSetHandler perl-script\nPerlHandler My::name\n</Location>\n"
    )
}

#[track_caller]
fn header(server: &Server, target: &str) -> String {
    server.get(target).header("Server").expect("every response has one")
}

/// Asserts the `Server` header for clients, and the name that programs see.
#[track_caller]
fn identifies(server: &Server, to_clients: &str, to_programs: &str) {
    assert_eq!(["/a.txt", "/perl", "/none"].map(|target| header(server, target)), [to_clients; 3]);
    assert_eq!(server.text("/perl"), format!("{to_programs}|{to_programs}"));
}

#[test]
fn a_component_that_start_up_code_adds_is_in_the_server_header_of_its_generation() {
    let site = site().file("startup.pl", "Apache->add_version_component('Foo/1.0'); 1;");
    let conf = conf("PerlRequire startup.pl\n<Perl>\nApache::add_version_component('Bar/2')\n</Perl>");
    let server = site.serve(&conf);
    let software = |added: &str| format!("Cameleer/{VERSION} mod_perl/1.31 {added}");
    identifies(&server, "Cameleer mod_perl/1.31 Foo/1.0 Bar/2", &software("Foo/1.0 Bar/2"));
    server.site.write("startup.pl", "Apache->add_version_component('Foo/1.1'); 1;");
    server.reload().succeeded();
    identifies(&server, "Cameleer mod_perl/1.31 Foo/1.1 Bar/2", &software("Foo/1.1 Bar/2"));
    let before = children(server.pid());
    let status = server.status();
    let front = status["front"]["pid"].as_i64().or(status["front_pid"].as_i64());
    let front = front.map_or(before[0], |pid| pid as i32);
    signal(front, Signal::SIGKILL);
    let answer = eventually("a new front answers", || {
        let mut connection = crate::support::Connection::open(&server.site.address()).ok()?;
        connection.try_ask(&Request::get("/a.txt")).ok().filter(|answer| answer.status == 200)
    });
    assert_eq!(answer.header("Server").as_deref(), Some("Cameleer mod_perl/1.31 Foo/1.1 Bar/2"));
}

#[test]
fn server_tokens_decides_the_server_header() {
    let parts: Vec<&str> = VERSION.split('.').collect();
    for (word, identity) in [
        ("Prod", "Cameleer".to_owned()),
        ("ProductOnly", "Cameleer".to_owned()),
        ("Major", format!("Cameleer/{}", parts[0])),
        ("minor", format!("Cameleer/{}.{}", parts[0], parts[1])),
        ("Min", format!("Cameleer/{VERSION}")),
        ("OS", format!("Cameleer/{VERSION} (Unix)")),
        ("Full", format!("Cameleer/{VERSION} (Unix) mod_perl/1.31 Foo/1.0")),
    ] {
        let site = site().file("startup.pl", "Apache->add_version_component('Foo/1.0'); 1;");
        let server = site.serve(&conf(&format!("ServerTokens {word}\nPerlRequire startup.pl")));
        identifies(&server, &identity, &identity);
    }
    let server = site().serve(&conf(""));
    identifies(&server, "Cameleer mod_perl/1.31", &format!("Cameleer/{VERSION} mod_perl/1.31"));
    let server = Site::new().file("htdocs/a.txt", "a").serve("");
    assert_eq!(header(&server, "/a.txt"), "Cameleer", "a site without mod_perl does not name it");
}

#[test]
fn the_servers_own_pages_end_with_the_signature() {
    let conf = conf(
        "ServerAdmin me@example.org\nServerName www.example.org\nServerSignature On\n\
         <Location /list>\nOptions Indexes\nServerSignature EMail\n</Location>\n<Location /quiet>\nServerSignature Off\n</Location>",
    );
    let server = site().serve(&conf);
    let port = server.site.port;
    let line =
        |name: &str| format!("<hr>\n<address>Cameleer mod_perl/1.31 Server at {name} Port {port}</address>\n</body>");
    for page in ["/none", "/perl/missing", "/list"] {
        let line =
            if page == "/list" { line("<a href=\"mailto:me@example.org\">localhost</a>") } else { line("localhost") };
        let page = server.get(page).text();
        assert!(page.contains(&line), "{page}");
    }
    let list = server.get("/list/").is(200).text();
    assert!(
        list.contains("b.txt") && list.contains(&line("<a href=\"mailto:me@example.org\">localhost</a>")),
        "{list}"
    );
    assert!(!server.get("/quiet/none").is(404).text().contains("<address>"));
}

#[test]
fn error_pages_name_server_admin_or_use_httpds_words() {
    let ask = "<Location /admin>\nSetHandler perl-script\n\
        PerlHandler \"sub { my $r = shift; $r->print($r->server->server_admin, '|', $ENV{SERVER_ADMIN}); 0 }\"\n</Location>";
    let admin_of = |directive: &str| Site::new().serve(&format!("{directive}\n{ask}")).text("/admin");
    assert_eq!(admin_of("ServerAdmin me@example.org"), "me@example.org|me@example.org");
    assert_eq!(admin_of(""), "[no address given]|[no address given]", "DEFAULT_ADMIN of httpd 1.3's httpd.h");
}

#[test]
fn use_canonical_name_selects_the_source_of_name_and_port() {
    let named = "ServerName canonical.example:8443";
    let cases = [
        ("Off", named, "asked.example:99", "asked.example|99"),
        ("Off", named, "asked.example", "asked.example|8443"),
        ("Off", "", "asked.example", "asked.example|@PORT@"),
        ("Off", "", "[::1]:7", "[::1]|7"),
        ("On", named, "asked.example:99", "canonical.example|8443"),
        ("On", "ServerName canonical.example", "asked.example:99", "canonical.example|@PORT@"),
    ];
    for (word, named, host, name) in cases {
        let server = site().serve(&conf(&format!("{named}\nUseCanonicalName {word}")));
        let name = server.site.filled(name);
        let answer = server.send(Request::get("/name").header("Host", host)).is(200);
        assert_eq!(answer.text(), format!("{name}|{name}"), "{word} {named} {host}");
    }
    let server = site().serve(&conf(named));
    let old = server.connect().ask(Request::get("/name").header("Host", "asked.example:1"));
    assert_eq!(old.text(), "asked.example|1|asked.example|1", "Off is the default");
}

#[test]
fn with_dns_the_servers_name_is_that_of_its_address() {
    let system = "use Socket; scalar gethostbyaddr(inet_aton('127.0.0.1'), AF_INET) // 'canonical.example'";
    let site = site().file(
        "lib/Mine.pm",
        &format!("package Mine; sub handler {{ my $r = shift; $r->print(do {{ {system} }}, ':', $r->get_server_port); 0 }} 1;"),
    );
    let conf = conf("ServerName canonical.example:8443\nUseCanonicalName DNS");
    let server = site.serve(&format!(
        "{conf}PerlModule Mine\n<Location /system>\nSetHandler perl-script\nPerlHandler Mine\n</Location>",
    ));
    for (host, port) in [("asked.example:99", 99), ("asked.example", 8443)] {
        let ask = |target: &str| server.send(Request::get(target).header("Host", host)).is(200).text();
        let (name, known) = (ask("/name"), ask("/system"));
        let name_known = known.strip_suffix(&format!(":{port}")).expect("the port of the Host header, or ServerName's");
        assert_eq!(name, format!("{name_known}|{port}|{name_known}|{port}"));
    }
}

#[test]
fn identity_check_is_accepted_with_a_warning_and_queries_no_ident_service() {
    let site = site().file(
        "lib/Who.pm",
        "package Who; sub handler { my $r = shift; $r->print($r->get_remote_logname // 'undef'); 0 } 1;",
    );
    let server = site.serve("\nIdentityCheck On\nPerlLib lib\nSetHandler perl-script\nPerlHandler Who");
    server.logged("site.conf:2: IdentityCheck: has no effect: ident services are not queried");
    assert_eq!(server.text("/"), "undef");
}
