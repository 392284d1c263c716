//! BroadcastTransport: messages of Cameleer::Broadcast between two servers, by a real Redis and a real PostgreSQL.

use nix::sys::signal::Signal;

use crate::support::{Database, POSTGRES, Redis, Server, Site, WebSocket, own_address, until};

/// Sends each message with its channel to the WebSocket; of a long one the length and a checksum.
const MOJO: &str = r#"use Mojolicious::Lite -signatures;
use Cameleer::Broadcast;
use Digest::MD5 'md5_hex';
websocket '/listen/:channel' => sub ($c) {
    $c->inactivity_timeout(0);
    my $subscription = Cameleer::Broadcast->subscribe($c->param('channel') => sub ($message, $channel) {
        $c->send({ text => length $message > 100 ? length($message) . ' ' . md5_hex($message) : "$channel: $message" });
    });
    $c->on(finish => sub { undef $subscription });
    $c->send('listening');
};
app->start;
"#;

/// The blocking program: its path says what to publish.
const PSGI: &str = r#"use v5.36;
use Cameleer::Broadcast;
use Digest::MD5 'md5_hex';
my $app = sub ($env) {
    my (undef, $do, $channel, $count) = split m{/}, $env->{PATH_INFO};
    my $body = '';
    if ($do eq 'presence') { $body = Cameleer::Broadcast->presence($channel) // 'unknown' }
    elsif ($do eq 'say')   { Cameleer::Broadcast->publish($channel, $count) }
    elsif ($do eq 'many')  { Cameleer::Broadcast->publish($channel, $_) for 1 .. $count }
    elsif ($do eq 'large') { Cameleer::Broadcast->publish($channel, 'x' x 60_000) for 1 .. $count }
    elsif ($do eq 'bytes') {
        my $message = join '', map { chr($_ * 7 % 256) } 1 .. $count;
        Cameleer::Broadcast->publish($channel, $message);
        $body = "$count " . md5_hex($message);
    }
    return [ 200, [], [$body] ];
};
"#;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operating/broadcast.md"));

/// A server with a blocking worker for /work, an event worker for /live, and its metrics.
#[track_caller]
fn node(transport: &str) -> Server {
    let server = Site::new().file("live.pl", MOJO).file("work.psgi", PSGI).serve(&conf(transport));
    server.until_idle(2);
    server
}

fn conf(transport: &str) -> String {
    format!(
        "LogLevel notice\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nMaxClients 1\n{transport}\n\
         <WorkerPool live>\nPsgiMode event\nStartServers 1\n</WorkerPool>\n\
         <Location /live>\nPerlPool live\nPsgiApp @DIR@/live.pl\n</Location>\n\
         <Location /work>\nPsgiApp @DIR@/work.psgi\n</Location>\n\
         <Location /metrics>\nSetHandler server-metrics\n</Location>\n\
         <Location /info>\nSetHandler server-info\n</Location>\n"
    )
}

/// Two servers that are connected to the store and know each other.
#[track_caller]
fn nodes(transport: &str) -> [Server; 2] {
    let servers = [node(transport), node(transport)];
    until_together(&servers);
    servers
}

#[track_caller]
fn until_together(servers: &[Server; 2]) {
    for server in servers {
        until("the servers know each other", || is_connected(server) && state(server, "nodes") == 1);
    }
}

fn is_connected(server: &Server) -> bool {
    server.status()["front"]["broadcast_transport"]["connected"] == true
}

/// A number of the transport's status.
fn state(server: &Server, name: &str) -> u64 {
    server.status()["front"]["broadcast_transport"][name].as_u64().unwrap_or_default()
}

#[track_caller]
fn listen(server: &Server, channel: &str) -> WebSocket {
    let mut socket = WebSocket::open(server, &format!("/live/listen/{channel}"));
    assert_eq!(socket.text(), "listening");
    socket
}

/// Waits until a server knows this number of subscriptions of all servers.
#[track_caller]
fn until_present(server: &Server, channel: &str, count: u32) {
    let target = format!("/work/presence/{channel}");
    until("the channel has its subscribers", || server.text(&target) == count.to_string());
}

#[track_caller]
fn say(server: &Server, channel: &str, message: &str) {
    server.get(&format!("/work/say/{channel}/{message}")).is(200);
}

/// Reads messages until this one, which may come behind others that waited for the store.
#[track_caller]
fn read_until(socket: &mut WebSocket, message: &str) {
    while socket.text() != message {}
}

/// What holds with each store.
#[track_caller]
fn messages_reach_all_servers_once_whole_and_in_order(servers: &[Server; 2]) {
    let mut sockets = [listen(&servers[0], "news"), listen(&servers[1], "news"), listen(&servers[1], "news")];
    let mut other = listen(&servers[0], "other");
    servers.iter().for_each(|server| until_present(server, "news", 3));
    for (number, server) in [0, 1, 0, 1].into_iter().zip([0, 1, 1, 0]) {
        say(&servers[server], "news", &number.to_string());
        sockets.iter_mut().for_each(|socket| assert_eq!(socket.text(), format!("news: {number}")));
    }
    say(&servers[1], "other", "one");
    assert_eq!(other.text(), "other: one", "it got nothing else");

    servers[0].get("/work/many/news/1000").is(200);
    for socket in &mut sockets {
        (1..=1000).for_each(|number| assert_eq!(socket.text(), format!("news: {number}")));
    }
    for size in [101, 5_851, 65_536] {
        let sum = servers[0].text(&format!("/work/bytes/news/{size}"));
        sockets.iter_mut().for_each(|socket| assert_eq!(socket.text(), sum));
    }
    let [_first, second, third] = sockets;
    drop((second, third));
    until_present(&servers[0], "news", 1);
}

#[test]
fn messages_reach_the_subscribers_of_another_server_by_redis() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&format!("BroadcastTransport redis://127.0.0.1:{}", store.port));
    messages_reach_all_servers_once_whole_and_in_order(&servers);
    let before = state(&servers[1], "received");
    servers[0].get("/work/many/nobody/100").is(200);
    until("the store has them", || state(&servers[0], "sent") >= 1100);
    assert_eq!(state(&servers[1], "received"), before, "only channels with subscribers are subscribed to");
    let metrics = servers[0].text("/metrics");
    for line in ["connected 1", "nodes 1", "dropped_total 0", "unusable_total 0", "reconnects_total 0"] {
        assert!(metrics.contains(&format!("\ncameleer_broadcast_transport_{line}\n")), "{line}: {metrics}");
    }
    let table = servers[0].control(["status"]).succeeded().out;
    assert!(
        table.contains(&format!("broadcast redis://127.0.0.1:{}  connected  1 other servers", store.port)),
        "{table}"
    );
}

#[test]
fn messages_reach_the_subscribers_of_another_server_by_postgresql() {
    let site = Site::new();
    let _store = Database::start(&site, POSTGRES);
    let url = site.filled("BroadcastTransport postgresql://ledger@/ledger?host=@DIR@/database");
    messages_reach_all_servers_once_whole_and_in_order(&nodes(&url));
}

#[test]
fn servers_with_another_prefix_get_nothing() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let url = site.filled("BroadcastTransport unix:@DIR@/redis/socket");
    let servers = nodes(&url);
    let stranger = node(&format!("{url}?prefix=shop:"));
    until("the server is connected", || is_connected(&stranger));
    let mut socket = listen(&stranger, "news");
    let mut near = listen(&servers[1], "news");
    until_present(&servers[0], "news", 1);
    say(&servers[0], "news", "one");
    assert_eq!(near.text(), "news: one");
    say(&stranger, "news", "two");
    assert_eq!(socket.text(), "news: two");
    assert_eq!((state(&stranger, "nodes"), state(&stranger, "received")), (0, 0));
    drop(store);
}

#[test]
fn a_store_that_is_killed_stops_nothing_and_is_used_again_when_it_is_back() {
    let site = Site::new();
    let mut store = Redis::start(&site, &[]);
    let servers = nodes(&format!("BroadcastTransport redis://127.0.0.1:{}", store.port));
    let mut sockets = [listen(&servers[0], "news"), listen(&servers[1], "news")];
    until_present(&servers[0], "news", 2);
    store.stop();
    for server in &servers {
        server.logged("Connection refused");
    }
    say(&servers[0], "news", "alone");
    assert_eq!(sockets[0].text(), "news: alone");
    store.restart();
    until_together(&servers);
    say(&servers[0], "news", "again");
    sockets.iter_mut().for_each(|socket| read_until(socket, "news: again"));
    for server in &servers {
        assert_eq!(server.log().matches("Connection refused").count(), 1, "one line for each change of state");
        assert_eq!(server.log().matches(": connected").count(), 2);
        assert_eq!(state(server, "reconnects"), 1);
    }
}

#[test]
fn a_restarted_postgresql_is_used_again() {
    let site = Site::new();
    let mut store = Database::start(&site, POSTGRES);
    let servers = nodes(&site.filled("BroadcastTransport postgresql://ledger@/ledger?host=@DIR@/database"));
    let mut sockets = [listen(&servers[0], "news"), listen(&servers[1], "news")];
    store.stop();
    servers[0].logged("terminating connection due to administrator command");
    say(&servers[0], "news", "alone");
    assert_eq!(sockets[0].text(), "news: alone");
    store.serve();
    until_together(&servers);
    say(&servers[0], "news", "again");
    sockets.iter_mut().for_each(|socket| read_until(socket, "news: again"));
}

#[test]
fn a_frozen_store_holds_neither_publishers_nor_requests() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&format!("BroadcastTransport redis://127.0.0.1:{}", store.port));
    let (mut near, mut far) = (listen(&servers[0], "news"), listen(&servers[1], "calm"));
    until_present(&servers[0], "calm", 1);
    store.signal(Signal::SIGSTOP);
    // More than may wait for the store.
    for _ in 0..20 {
        servers[0].get("/work/large/news/10").is(200);
        (0..10).for_each(|_| assert!(near.text().starts_with("60000 ")));
        assert!(state(&servers[0], "waiting_bytes") <= 8 << 20);
    }
    servers[0].logged("dropping further messages for other servers");
    servers[0].logged("the store has not answered within 5 s");
    assert!(state(&servers[0], "dropped") > 0);
    store.signal(Signal::SIGCONT);
    until_together(&servers);
    say(&servers[0], "calm", "again");
    assert_eq!(far.text(), "calm: again");
    assert_eq!(servers[0].log().matches("dropping further messages").count(), 1);
}

#[test]
fn a_flood_is_sent_or_counted_as_dropped() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&format!("BroadcastTransport redis://127.0.0.1:{}", store.port));
    let mut socket = listen(&servers[1], "calm");
    until_present(&servers[0], "calm", 1);
    servers[0].get("/work/many/news/20000").is(200);
    servers[0].get("/work/large/news/200").is(200);
    until("all are sent or dropped", || state(&servers[0], "sent") + state(&servers[0], "dropped") == 20_200);
    say(&servers[0], "calm", "last");
    assert_eq!(socket.text(), "calm: last");
}

#[test]
fn a_wrong_password_is_named_but_not_shown_and_its_file_is_read_again() {
    let site = Site::new();
    let store = Redis::start(&site, &["--requirepass", "open-sesame"]);
    let wrong = node(&format!("BroadcastTransport redis://:wrong-word@127.0.0.1:{}", store.port));
    wrong.logged("authentication failed");
    let shown = [wrong.log(), wrong.status().to_string(), wrong.text("/info"), wrong.text("/metrics")];
    assert!(shown.iter().all(|text| !text.contains("wrong-word")));
    assert!(shown[2].contains("BroadcastTransport (hidden)"));
    say(&wrong, "news", "alone");

    site.write("password", "not-yet\n");
    let file = site.filled("password_file=@DIR@/password");
    let server = node(&format!("BroadcastTransport redis://127.0.0.1:{}?{file}", store.port));
    server.logged("authentication failed");
    site.write("password", "open-sesame\n");
    until("the file is read again", || is_connected(&server));
}

#[test]
fn a_wrong_password_of_postgresql_is_named() {
    let site = Site::new();
    let mut store = Database::start(&site, POSTGRES);
    store.run("alter role ledger password 'open-sesame'");
    site.write("database/data/pg_hba.conf", "local all postgres trust\nlocal all all scram-sha-256\n");
    store.restart();
    let url = |password: &str| {
        site.filled(&format!("BroadcastTransport postgresql://ledger:{password}@/ledger?host=@DIR@/database"))
    };
    let wrong = node(&url("wrong-word"));
    let line = wrong.logged("authentication failed");
    assert!(!line.contains("wrong-word"));
    let right = node(&url("open-sesame"));
    until("the server is connected", || is_connected(&right));
}

#[test]
fn messages_of_another_version_and_of_strangers_are_dropped_with_one_line() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let server = node(&format!("BroadcastTransport redis://127.0.0.1:{}", store.port));
    let mut socket = listen(&server, "news");
    until("the server has subscribed", || store.publish("cameleer:m:news", b"\x02 of a later version") == ":1");
    for message in [&b"\x02"[..], b"", b"\x01", b"\x01\x01 short", &[0xff; 100_000]] {
        assert_eq!(store.publish("cameleer:m:news", message), ":1");
        assert_eq!(store.publish("cameleer:counts", message), ":1");
    }
    let foreign = [&b"\x01\x01"[..], &[0; 16], b"\x05other", b"text"].concat();
    store.publish("cameleer:m:news", &foreign);
    until("all are counted", || state(&server, "unusable") == 12);
    let line = server.logged("messages of version 2, because this release has version 1");
    assert!(line.contains("use one release on all servers"), "{line}");
    assert_eq!(server.log().matches("BroadcastTransport redis").count(), 2, "connected, and the first of them");
    say(&server, "news", "one");
    assert_eq!(socket.text(), "news: one");
}

#[test]
fn a_store_that_sends_without_end_is_left() {
    let site = Site::new();
    let store = Redis::start(&site, &["--proto-max-bulk-len", "16mb"]);
    let server = node(&format!("BroadcastTransport redis://127.0.0.1:{}", store.port));
    let _socket = listen(&server, "news");
    until("the server has subscribed", || store.publish("cameleer:m:news", &vec![b'x'; 4 << 20]) == ":1");
    until("the server has connected again", || state(&server, "reconnects") > 0 && is_connected(&server));
}

#[test]
fn tls_needs_a_certificate_of_a_known_authority() {
    let site = Site::new().certificate("redis", &["localhost"]);
    let store = Redis::start(&site, &[]);
    let url = format!("BroadcastTransport rediss://localhost:{}", store.secure_port);
    let refused = node(&url);
    refused.logged("TLS: invalid peer certificate");
    let servers = nodes(&site.filled(&format!("{url}?ca_file=@DIR@/redis.crt")));
    let mut socket = listen(&servers[1], "news");
    until_present(&servers[0], "news", 1);
    say(&servers[0], "news", "one");
    assert_eq!(socket.text(), "news: one");
}

#[test]
fn postgresql_needs_a_certificate_of_a_known_authority() {
    let address = own_address();
    let site = Site::new().certificate("db", &[&address]);
    let mut store = Database::start(&site, POSTGRES);
    store.restart_with_tls(&site, &address, "hostssl all ledger all trust");
    let url = format!("BroadcastTransport postgresql://ledger@{address}/ledger?sslmode=verify-full");
    node(&url).logged("TLS: invalid peer certificate: UnknownIssuer");
    let known = site.filled("&ca_file=@DIR@/db.crt");
    let servers = nodes(&format!("{url}{known}"));
    let mut socket = listen(&servers[1], "news");
    until_present(&servers[0], "news", 1);
    say(&servers[0], "news", "one");
    assert_eq!(socket.text(), "news: one");
}

#[test]
fn a_reload_begins_and_ends_the_transport() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let on = format!("BroadcastTransport redis://127.0.0.1:{}", store.port);
    let server = node("");
    assert!(server.status()["front"]["broadcast_transport"].is_null());
    server.site.configure(&conf(&on));
    server.reload().succeeded();
    until("the server is connected", || is_connected(&server));
    server.reload().succeeded();
    assert_eq!(server.log().matches(": connected").count(), 1, "the same store stays connected");
    server.site.configure(&conf(&format!("{on}?prefix=other:")));
    server.reload().succeeded();
    until("the server is connected anew", || is_connected(&server) && server.log().matches(": connected").count() == 2);
    server.site.configure(&conf("BroadcastTransport off"));
    server.reload().succeeded();
    until("the transport is gone", || server.status()["front"]["broadcast_transport"].is_null());
}

#[test]
fn the_configuration_of_the_page_for_several_machines_works() {
    let section = PAGE.split("\n## Several machines\n").nth(1).expect("the section");
    let block = section.split("```apache\n").nth(1).and_then(|text| text.split("```").next()).expect("its example");
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    assert!(block.contains("redis.example"), "{block}");
    let servers = nodes(&block.replace("redis.example", &format!("127.0.0.1:{}", store.port)));
    let mut socket = listen(&servers[1], "news");
    until_present(&servers[0], "news", 1);
    say(&servers[0], "news", "one");
    assert_eq!(socket.text(), "news: one");
}
