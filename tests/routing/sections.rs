//! Sections and the directives allowed in them: sections.html, mod/core.html

use crate::support::{Request, serve_echo_script as serve};

/// mod/core.html#keepalive: contexts "server config, virtual host"; the same holds for KeepAliveTimeout and
/// MaxKeepAliveRequests.
#[test]
fn a_virtual_host_has_its_own_keep_alive() {
    let server = serve(
        "MaxKeepAliveRequests 3\n<VirtualHost *>\nServerName first\n</VirtualHost>\n\
         <VirtualHost *>\nServerName off\nKeepAlive Off\n</VirtualHost>\n\
         <VirtualHost *>\nServerName two\nMaxKeepAliveRequests 2\n</VirtualHost>\n\
         <VirtualHost *>\nServerName short\nKeepAliveTimeout 200ms\n</VirtualHost>",
    );
    let ask = |host: &str| Request::get("/plain.txt").header("Host", host);
    let closes = |host: &str| {
        let mut connection = server.connect();
        let answers = (0..3).map(|_| connection.ask(ask(host)).header("connection"));
        let count = answers.take_while(|connection| connection.as_deref() != Some("close")).count();
        connection.is_closed();
        count
    };
    assert_eq!((closes("first"), closes("off"), closes("two")), (2, 0, 1));
    let mut connection = server.connect();
    connection.ask(ask("short"));
    connection.is_closed();
}

/// mod/core.html#location: a path without a leading slash is legal, and matches no request.
#[test]
fn a_location_without_a_slash_is_legal_and_holds_for_nothing() {
    let server = serve("<Location plain.txt>\nDeny from all\n</Location>");
    assert_eq!(server.text("/plain.txt"), "plain\n");
    let line = server.logged("site.conf");
    assert!(line.contains("Location") && line.contains("nothing in it takes effect"), "{line}");
}

/// core.html#iffile: "contains directives that will be processed only if file exists at startup".
#[test]
fn lines_may_depend_on_a_file() {
    let server = serve(
        "<IfFile base.conf>\nHeader set X-There yes\n</IfFile>\n<IfFile !none.conf>\nHeader set X-None yes\n</IfFile>\n\
         <IfFile \"@DIR@/none.conf\">\nHeader set X-Never yes\n</IfFile>",
    );
    let page = server.get("/plain.txt");
    assert_eq!(["x-there", "x-none", "x-never"].map(|name| page.header(name).is_some()), [true, true, false]);
}

/// core.html#loglevel: "[module:]level" sets the level of one module.
#[test]
fn the_level_of_one_module_is_its_own() {
    let handler = "<Perl>\nsub My::say { my $r = shift; $r->log->info('from perl'); $r->send_http_header('text/plain'); $r->print('ok'); 0 }\n</Perl>\n\
        <Location /say>\nSetHandler perl-script\nPerlHandler My::say\n</Location>\n<Location /shut>\nDeny from all\n</Location>";
    let server = serve(&format!("LogLevel warn perl_module:info core:crit ssl:warn rewrite:trace3\n{handler}"));
    assert_eq!(server.text("/say"), "ok");
    server.logged("from perl");
    server.get("/shut").is(403);
    assert!(!server.log().contains("client denied"), "{}", server.log());
    let server = serve(&format!("LogLevel info perl:warn\n{handler}"));
    assert_eq!(server.text("/say"), "ok");
    server.get("/shut").is(403);
    server.logged("client denied");
    assert!(!server.log().contains("from perl"), "{}", server.log());
}
