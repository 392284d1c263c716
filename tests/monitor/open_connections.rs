//! Open connections on the dashboard, in a real browser.

use super::browser::{Browser, Look};
use crate::support::{Site, WebSocket, free_port};

const LIVE: &str = "use Mojolicious::Lite -signatures;\n\
    websocket '/socket' => sub ($c) { $c->inactivity_timeout(0); $c->on(message => sub { }) };\n\
    get '/events' => sub ($c) { $c->inactivity_timeout(0)->res->headers->content_type('text/event-stream'); $c->write(\"data: 1\\n\\n\") };\n\
    app->start;\n";
const HELD: &str = "use Cameleer::Broadcast;\n\
    sub { [200, ['Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold('news')], [\"data: 1\\n\\n\"]] };\n";

#[test]
fn the_dashboard_shows_open_connections_by_kind() {
    let port = free_port();
    let server = Site::new().file("live.pl", LIVE).file("held.psgi", HELD).serve(&format!(
        "AdminListen 127.0.0.1:{port}\nStartServers 1\n<WorkerPool live>\nPsgiMode event\nStartServers 1\n</WorkerPool>\n\
         <Location /live>\nPerlPool live\nPsgiApp live.pl\n</Location>\n<Location /held>\nPsgiApp held.psgi\n</Location>\n"
    ));
    let [first, _second] = ["/live/socket"; 2].map(|target| WebSocket::open(&server, target));
    let _streams = ["/live/events", "/held"].map(|target| {
        let mut connection = server.connect();
        connection.raw(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
        connection.head().is(200);
        assert_eq!(connection.chunk(), b"data: 1\n\n", "{target}");
        connection
    });
    let mut browser = Browser::start(&server.site);
    browser.open(&format!("http://127.0.0.1:{port}/"), Look { dark: false, width: 1360, height: 1500 });
    let shows = |what: &str| format!("document.querySelector('#open-kinds').innerText === '{what}'");
    browser.until(&shows("open: 2 websocket, 1 sse, 1 held"));
    browser.until("document.querySelector('#worker-table').innerText.includes('open: 2 websocket, 1 sse')");
    browser.picture("dashboard-open");
    drop(first);
    browser.until(&shows("open: 1 websocket, 1 sse, 1 held"));
    assert_eq!(browser.complaints, Vec::<String>::new());
}
