//! `LimitStore`: a client has one limit on all servers.

use super::{state, until_connected};
use crate::support::{Redis, Request, Server, Site, until};

/// The address of a second client, which differs from that of `Server::get`.
const OTHER: &str = "127.0.0.9";

/// `/app/long` takes a second of its worker.
const APP: &str = "sub { select undef, undef, undef, 1 if $_[0]{PATH_INFO} =~ /long/; [200, [], ['ok']] }";

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operating/shared-limits.md"));

fn conf(directives: &str) -> String {
    format!(
        "LogLevel notice\nStartServers 2\nMinSpareServers 2\nMaxSpareServers 2\nMaxClients 2\nStoreTimeout 10s\n\
         <Location />\nPsgiApp app.psgi\n</Location>\n{directives}\n\
         <Location /metrics>\nSetHandler server-metrics\n</Location>\n\
         <Location /info>\nSetHandler server-info\n</Location>\n"
    )
}

#[track_caller]
pub fn node(directives: &str) -> Server {
    Site::new().file("app.psgi", APP).serve(&conf(directives))
}

/// Servers that use the store and have this limit at /app.
#[track_caller]
pub fn nodes<const N: usize>(store: &str, limit: &str) -> [Server; N] {
    let directives = format!("LimitStore {store}\n<Location /app>\nSpeedLimit {limit}\n</Location>");
    let servers = std::array::from_fn(|_| node(&directives));
    until_connected(&servers.iter().collect::<Vec<_>>(), "LimitStore");
    servers
}

#[track_caller]
fn retry_after(server: &Server) -> u32 {
    let after = server.get("/app/x").is(429).header("retry-after");
    after.and_then(|after| after.parse().ok()).expect("a number of seconds")
}

#[test]
fn the_requests_of_a_client_count_on_all_servers() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers: [Server; 3] = nodes(&format!("redis://127.0.0.1:{}", store.port), "requests=6/600s");
    for _ in 0..2 {
        servers.iter().for_each(|server| drop(server.get("/app/x").is(200)));
    }
    for server in &servers {
        assert!((1..=100).contains(&retry_after(server)), "one in 100 s");
        assert_eq!(server.log().matches("SpeedLimit requests=6/600s").count(), 1, "{}", server.log());
        server.send_as(OTHER, Request::get("/app/x")).is(200);
        server.get("/elsewhere").is(200);
    }
    // What the store has refused is refused here until its time has come, without another question.
    let questions = || state(&servers[0], "LimitStore", "answered").as_u64().unwrap_or_default();
    let before = questions();
    (0..10).for_each(|_| drop(servers[0].get("/app/x").is(429)));
    assert_eq!(questions(), before);
    assert_eq!(state(&servers[0], "LimitStore", "alone"), 0);

    let keys = store.ask("KEYS cameleer:limit:*");
    let key = "cameleer:limit:1:localhost:</app>:default:requests=6/600s:127.0.0.1";
    let key = key.replace("</app>", "<Location /app>");
    assert!(keys.contains(&key), "{keys}");
    let left: u64 = store.command(&[b"PTTL", key.as_bytes()]).trim().trim_start_matches(':').parse().expect("a time");
    assert!((1..=600_000).contains(&left), "{left}");

    let metrics = servers[0].text("/metrics");
    for line in ["connected{directive=\"LimitStore\"} 1", "alone_total{directive=\"LimitStore\"} 0"] {
        assert!(metrics.contains(&format!("\ncameleer_store_{line}\n")), "{line}: {metrics}");
    }
    let table = servers[0].control(["status"]).succeeded().out;
    assert!(table.contains(&format!("LimitStore redis://127.0.0.1:{}  connected  ", store.port)), "{table}");
}

#[test]
fn all_threads_of_a_server_use_the_store() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let limit = format!(
        "LimitStore redis://127.0.0.1:{}\nFrontThreads 3\n<Location /app>\nSpeedLimit requests=30/600s\n</Location>",
        store.port
    );
    let servers = [node(&limit), node(&limit)];
    until_connected(&servers.iter().collect::<Vec<_>>(), "LimitStore");
    let statuses = || (0..20).flat_map(|_| servers.iter().map(|server| server.get("/app/x").status));
    assert_eq!(statuses().filter(|status| *status == 200).count(), 30);
    assert_eq!(state(&servers[0], "LimitStore", "alone"), 0);
}

#[test]
fn seconds_of_workers_count_on_all_servers_with_the_next_request() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers: [Server; 2] = nodes(&format!("redis://127.0.0.1:{}", store.port), "worker-seconds=1/600s");
    servers[0].get("/app/long").is(200);
    // Reports the time, and is refused for it.
    until("the time of the worker is counted", || servers[0].get("/app/x").status == 429);
    servers[1].get("/app/x").is(429);
    servers[1].send_as(OTHER, Request::get("/app/x")).is(200);
}

#[test]
fn sites_with_another_prefix_count_apart() {
    let site = Site::new();
    let _store = Redis::start(&site, &[]);
    let url = site.filled("unix:@DIR@/redis/socket");
    let [one, other]: [Server; 2] = nodes(&url, "requests=1/600s");
    let [stranger]: [Server; 1] = nodes(&format!("{url}?prefix=shop:"), "requests=1/600s");
    one.get("/app/x").is(200);
    other.get("/app/x").is(429);
    stranger.get("/app/x").is(200);
}

#[test]
fn a_store_that_has_forgotten_its_scripts_gets_them_again() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let [server]: [Server; 1] = nodes(&format!("redis://127.0.0.1:{}", store.port), "requests=2/600s");
    server.get("/app/x").is(200);
    store.ask("SCRIPT FLUSH");
    server.get("/app/x").is(200);
    server.get("/app/x").is(429);
    assert_eq!((state(&server, "LimitStore", "alone"), state(&server, "LimitStore", "answered")), (0.into(), 2.into()));
}

#[test]
fn data_of_strangers_is_replaced_and_holds_nobody_for_long() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let [server]: [Server; 1] = nodes(&format!("redis://127.0.0.1:{}", store.port), "requests=20/600s");
    let key = b"cameleer:limit:1:localhost:<Location /app>:default:requests=20/600s:127.0.0.1";
    for foreign in ["", "nonsense", "2 later version", "-5 nan", "inf 1e999", "12.5", "1 2 3"] {
        store.command(&[b"SET", key, foreign.as_bytes()]);
        server.get("/app/x").is(200);
        store.command(&[b"DEL", key]);
    }
    store.command(&[b"LPUSH", key, b"a list"]);
    server.get("/app/x").is(200);
    assert_eq!(state(&server, "LimitStore", "alone"), 0);
    // A time in the distant future counts as a full account: the next request is admitted after 30 s.
    store.command(&[b"DEL", key]);
    store.command(&[b"SET", key, format!("{}.000 0.000", "9".repeat(300)).as_bytes()]);
    assert!((29..=30).contains(&retry_after(&server)));
}

#[test]
fn no_page_and_no_log_has_the_password() {
    let site = Site::new();
    let store = Redis::start(&site, &["--requirepass", "pass-word"]);
    let limit = "<Location /app>\nSpeedLimit requests=1/600s\n</Location>";
    let wrong = node(&format!("LimitStore redis://:wrong-word@127.0.0.1:{}\n{limit}", store.port));
    let line = wrong.logged("LimitStore redis://");
    assert!(line.contains("authentication failed") && line.contains("each server counts its own"), "{line}");
    wrong.get("/app/x").is(200);
    wrong.get("/app/x").is(429);
    site.write("word", "pass-word\n");
    let file = site.filled("?password_file=@DIR@/word");
    let right = node(&format!("LimitStore redis://127.0.0.1:{}{file}\n{limit}", store.port));
    until_connected(&[&right], "LimitStore");
    for server in [&wrong, &right] {
        let shown = [server.log(), server.text("/info"), server.status().to_string()];
        assert!(shown.iter().all(|text| !text.contains("-word")), "{shown:?}");
    }
}

#[test]
fn a_reload_begins_and_ends_the_use_of_the_store() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let limit = "<Location /app>\nSpeedLimit requests=2/600s\n</Location>";
    let on = format!("LimitStore redis://127.0.0.1:{}\n{limit}", store.port);
    let server = node(limit);
    assert!(server.status()["front"]["stores"].is_null());
    let clients = || store.ask("CLIENT LIST").matches("cmd=evalsha").count();
    server.site.configure(&conf(&on));
    server.reload().succeeded();
    until_connected(&[&server], "LimitStore");
    server.get("/app/x").is(200);
    server.reload().succeeded();
    until_connected(&[&server], "LimitStore");
    server.get("/app/x").is(200);
    server.get("/app/x").is(429);
    server.site.configure(&conf(limit));
    server.reload().succeeded();
    server.get("/app/x").is(200);
    until("no connection is left", || {
        server.get("/elsewhere").is(200);
        clients() == 0
    });
    assert!(server.status()["front"]["stores"].is_null());
}

#[test]
fn the_configuration_of_the_page_works() {
    let block = PAGE.split("```apache\n").nth(1).and_then(|text| text.split("```").next()).expect("its example");
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    assert!(block.contains("redis.example") && block.contains("/srv/site/shop.psgi"), "{block}");
    let block = block.replace("redis.example", &format!("127.0.0.1:{}", store.port));
    let directives = block.replace("/srv/site/shop.psgi", "app.psgi").replace("requests=100/60s", "requests=10/600s");
    let servers = [node(&directives), node(&directives)];
    for directive in ["LimitStore", "CacheStore"] {
        until_connected(&servers.iter().collect::<Vec<_>>(), directive);
    }
    (0..10).for_each(|number| drop(servers[number % 2].get("/shop").is(200)));
    servers.iter().for_each(|server| drop(server.get("/shop").is(429)));
}
