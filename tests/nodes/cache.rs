//! `CacheStore`: a page is made once for all servers, and never for the wrong client.

use std::sync::atomic::Ordering::SeqCst;
use std::thread::{JoinHandle, spawn};

use nix::sys::signal::Signal;

use super::{Toxic, state, until_connected};
use crate::support::{Address, Connection, Redis, Request, Response, Server, Site, until};

const STORE: &str = "CacheStore";
const MINUTE: &str = "200|Cache-Control: max-age=60";

/// Answers with the status and headers in `X-Answer`. The body is the server's name and the number of the run there.
/// `X-Do: wait` waits for the file `go`.
const APP: &str = r#"use strict;
my $dir = '@DIR@';
sub {
    my $env = shift;
    open my $f, '+>>', "$dir/runs" or die $!;
    flock $f, 2 or die $!;
    syswrite $f, "$env->{REQUEST_METHOD} $env->{REQUEST_URI}\n";
    seek $f, 0, 0;
    my $run = () = <$f>;
    close $f;
    my ($status, @fields) = split /\|/, $env->{HTTP_X_ANSWER} // '200';
    if (($env->{HTTP_X_DO} // '') eq 'wait') { select undef, undef, undef, 0.01 until -e "$dir/go" }
    my $body = ($env->{HTTP_X_DO} // '') eq 'long' ? 'x' x 1_200_000 : "NAME run $run";
    return [$status, [(map { split /: /, $_, 2 } @fields), 'Content-Type' => 'text/plain'], [$body]];
}
"#;

/// A server of this name with the store, whose clients come by a Unix socket: the port is a part of the key.
#[track_caller]
fn node(name: &str, store: &Redis, directives: &str) -> Server {
    let site = Site::new().file("app.psgi", &APP.replace("NAME", name)).file("runs", "");
    let mut server = site.serve(&format!(
        "LogLevel notice\nMaxClients 4\nMinSpareServers 4\nMaxSpareServers 4\nStartServers 4\nStoreTimeout 10s\n\
         CacheLockMaxAge 60\nListen unix:@DIR@/http.sock\n<Location />\nPsgiApp app.psgi\n</Location>\n\
         CacheEnable memory /\nCacheHeader On\nCachePurgeFrom 127.0.0.1\nCacheStore redis://127.0.0.1:{}\n{directives}",
        store.port
    ));
    server.address = Address::Unix(server.site.path("http.sock"));
    until_connected(&[&server], STORE);
    server
}

#[track_caller]
fn nodes(store: &Redis, directives: &str) -> [Server; 2] {
    [node("a", store, directives), node("b", store, directives)]
}

#[track_caller]
fn ask(server: &Server, target: &str, answer: &str) -> Response {
    server.send(Request::get(target).header("X-Answer", answer))
}

/// Number of requests that workers of the server have received.
fn runs(server: &Server) -> usize {
    server.site.read("runs").lines().count()
}

/// Keys of resources in the store.
fn resources(store: &Redis) -> Vec<String> {
    let keys = store.ask("KEYS cameleer:cache:1:*");
    let is_resource = |key: &&str| key.rsplit(':').next().is_some_and(|last| last.len() == 64) && !key.contains("lock");
    keys.lines().filter(is_resource).map(str::to_owned).collect()
}

#[track_caller]
fn until_stored(store: &Redis, count: usize) {
    until("the store has the responses", || resources(store).len() == count);
}

/// Sends `count` requests at the same time.
fn together(server: &Server, count: usize) -> Vec<JoinHandle<Response>> {
    let client = |_| {
        let (address, request) =
            (server.address.clone(), Request::get("/a").header("X-Do", "wait").header("X-Answer", MINUTE));
        spawn(move || Connection::open(&address).expect("it listens").ask(request))
    };
    (0..count).map(client).collect()
}

fn until_all_wait(server: &Server, count: u64) {
    until("all are there", || server.status()["front"]["requests"].as_u64().is_some_and(|requests| requests >= count));
}

#[test]
fn a_page_is_made_once_for_all_servers() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    assert_eq!(ask(&servers[0], "/a?b=c", MINUTE).is(200).text(), "a run 1");
    until_stored(&store, 1);
    let other = ask(&servers[1], "/a?b=c", MINUTE).is(200);
    assert_eq!((other.text().as_str(), runs(&servers[1])), ("a run 1", 0));
    assert_eq!(other.header("x-cache").as_deref(), Some("HIT from localhost"));
    assert_eq!(other.header("cache-control").as_deref(), Some("max-age=60"));
    assert!(other.header("age").and_then(|age| age.parse::<u32>().ok()).is_some_and(|age| age < 60));
    // From now on the page is in the memory of both.
    let questions = state(&servers[1], STORE, "answered");
    assert_eq!(ask(&servers[1], "/a?b=c", MINUTE).text(), "a run 1");
    assert_eq!(state(&servers[1], STORE, "answered"), questions);
    // A reload empties only the memory.
    servers[1].reload().succeeded();
    until_connected(&[&servers[1]], STORE);
    until("the page is there again", || ask(&servers[1], "/a?b=c", MINUTE).text() == "a run 1");
    assert_eq!(runs(&servers[1]), 0);
}

#[test]
fn a_page_for_one_client_goes_to_no_other_server() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    let for_one = [
        "200|Cache-Control: private, max-age=60",
        "200|Cache-Control: no-store",
        "200|Cache-Control: max-age=60|Set-Cookie: a=b",
        "200|Cache-Control: max-age=60|Vary: *",
        "200",
    ];
    for (number, answer) in for_one.into_iter().enumerate() {
        let target = format!("/{number}");
        assert_ne!(ask(&servers[0], &target, answer).text(), ask(&servers[1], &target, answer).text(), "{answer}");
    }
    let user = |target| Request::get(target).header("Authorization", "Basic YTpi").header("X-Answer", MINUTE);
    servers[0].send(user("/user")).is(200);
    assert!(ask(&servers[1], "/user", MINUTE).text().starts_with('b'));
    until_stored(&store, 1);
    assert!(servers[0].send(user("/user")).text().starts_with('a'), "a page for strangers is not for users");
    // Clients that send another value of what a program may print.
    assert!(ask(&servers[0], "/key", MINUTE).text().starts_with('a'));
    until_stored(&store, 2);
    for (name, value) in [("Host", "evil.example"), ("X-Forwarded-Host", "evil.example"), ("X-Original-URL", "/x")] {
        let request = Request::get("/key").header(name, value).header("X-Answer", MINUTE);
        assert!(servers[1].send(request).text().starts_with('b'), "{name}");
    }
    assert!(ask(&servers[1], "/key", MINUTE).text().starts_with('a'));
}

#[test]
fn a_page_that_varies_is_found_by_its_headers_on_a_server_that_has_never_seen_it() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    let in_language = |server: &Server, language: &str| {
        let answer = "200|Cache-Control: max-age=60|Vary: Accept-Language";
        server.send(Request::get("/a").header("Accept-Language", language).header("X-Answer", answer)).text()
    };
    let fields = || store.command(&[b"HLEN", resources(&store).first().expect("a resource").as_bytes()]);
    assert_eq!(in_language(&servers[0], "de"), "a run 1");
    until_stored(&store, 1);
    assert_eq!(in_language(&servers[1], "en"), "b run 1");
    until("both are stored", || fields() == ":3\r\n");
    assert_eq!(in_language(&servers[1], "de"), "a run 1");
    assert_eq!(in_language(&servers[0], "en"), "b run 1");
}

#[test]
fn one_worker_of_all_servers_makes_a_page_that_many_want() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "FrontThreads 2");
    let clients: Vec<_> = servers.iter().flat_map(|server| together(server, 10)).collect();
    servers.iter().for_each(|server| until_all_wait(server, 10));
    until("a worker has begun", || servers.iter().any(|server| runs(server) > 0));
    servers.iter().for_each(|server| server.site.write("go", ""));
    let mut texts: Vec<String> = clients.into_iter().map(|client| client.join().expect("no panic").text()).collect();
    texts.sort();
    texts.dedup();
    assert_eq!((texts.len(), servers.iter().map(runs).sum::<usize>()), (1, 1), "{texts:?}");
}

#[test]
fn a_page_that_another_server_never_finishes_is_made_here() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = [node("a", &store, ""), node("b", &store, "CacheLockMaxAge 1")];
    let _never = together(&servers[0], 1);
    until("a worker has begun", || runs(&servers[0]) == 1);
    assert_eq!(ask(&servers[1], "/a", MINUTE).text(), "b run 1");
    servers[0].site.write("go", "");
}

#[test]
fn a_failed_request_leaves_the_right_to_make_the_page_to_the_next() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    ask(&servers[0], "/a", "500").is(500);
    ask(&servers[0], "/b", "200|Cache-Control: private").is(200);
    // Their locks would last for a minute.
    assert_eq!(ask(&servers[1], "/a", MINUTE).text(), "b run 1");
    assert_eq!(ask(&servers[1], "/b", MINUTE).text(), "b run 2");
}

#[test]
fn a_stale_page_is_sent_while_one_server_makes_a_new_one() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    let answer = "200|Cache-Control: max-age=1, stale-while-revalidate=600";
    assert_eq!(ask(&servers[0], "/a", answer).text(), "a run 1");
    until_stored(&store, 1);
    until("the page is stale", || {
        ask(&servers[0], "/a", answer).header("age").is_some_and(|age| age != "0") && runs(&servers[0]) > 1
    });
    // Whatever the second server gets first, it has not waited for a worker.
    assert!(ask(&servers[1], "/a", answer).text().starts_with("a run"));
    until("the page is new on both", || {
        let texts = servers.each_ref().map(|server| ask(server, "/a", answer).text());
        texts.iter().all(|text| text != "a run 1")
    });
}

#[test]
fn a_page_of_an_if_section_is_not_found_by_servers_whose_sections_differ() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let of = |condition| format!("<If \"%{{HTTP:X-Member}} {condition} '1'\">\nHeader set X-Group here\n</If>\n");
    let (members, strangers) = (of("=="), of("!="));
    let servers = [
        node("a", &store, &members),
        // The number of its first section is that of the section for members of the first server.
        node("b", &store, &(strangers + &members)),
        node("c", &store, &members),
    ];
    let of_member =
        |server: &Server| server.send(Request::get("/a").header("X-Member", "1").header("X-Answer", MINUTE)).text();
    assert_eq!(of_member(&servers[0]), "a run 1");
    until_stored(&store, 1);
    assert_eq!(ask(&servers[1], "/a", MINUTE).text(), "b run 1");
    assert_eq!(ask(&servers[2], "/a", MINUTE).text(), "c run 1");
    assert_eq!(of_member(&servers[2]), "a run 1");
}

#[test]
fn a_page_that_is_purged_while_it_is_made_is_not_stored() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    let clients = together(&servers[0], 1);
    until("a worker has begun", || runs(&servers[0]) == 1);
    servers[1].post("/a", "x=1").is(200);
    until("the store knows of it", || store.ask("KEYS cameleer:cache:1:*:purged") != "*0\r\n");
    servers[0].site.write("go", "");
    clients.into_iter().for_each(|client| drop(client.join().expect("no panic").is(200)));
    // Its page comes after the first.
    ask(&servers[0], "/b", MINUTE).is(200);
    until("the store has a page", || !resources(&store).is_empty());
    assert_eq!(resources(&store).len(), 1);
    assert_eq!(ask(&servers[1], "/b", MINUTE).text(), "a run 2");
}

#[test]
fn a_lock_that_the_store_has_given_too_late_ends() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let toxic = Toxic::before(store.port);
    let server =
        node("a", &store, &format!("CacheStore redis://127.0.0.1:{}\nStoreTimeout 200ms\nFrontThreads 1", toxic.port));
    toxic.delay.store(700, SeqCst);
    ask(&server, "/a", MINUTE).is(200);
    assert_eq!(state(&server, STORE, "late"), 1);
    until("the lock has ended", || store.ask("KEYS *:lock:*") == "*0\r\n");
}

#[test]
fn a_purge_that_waits_for_the_store_survives_a_reload() {
    let site = Site::new();
    let mut store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    assert_eq!(ask(&servers[0], "/a", MINUTE).text(), "a run 1");
    until_stored(&store, 1);
    assert_eq!(ask(&servers[1], "/a", MINUTE).text(), "a run 1");
    store.stop();
    servers.iter().for_each(|server| until("the store is away", || state(server, STORE, "connected") == false));
    servers[0].control(["purge", "/a"]).succeeded();
    servers[0].reload().succeeded();
    store.restart();
    until("the purge has arrived", || ask(&servers[1], "/a", MINUTE).text() != "a run 1");
}

#[test]
fn a_request_that_changes_a_page_that_is_never_stored_purges_nothing() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let server = node("a", &store, "<Location /form>\nCacheDisable On\n</Location>");
    server.post("/form", "x=1").is(200);
    server.post("/page", "x=1").is(200);
    // It comes after the first.
    until("the store knows of the purge", || store.ask("KEYS cameleer:cache:1:*:purged") != "*0\r\n");
    assert!(store.ask("KEYS cameleer:cache:1:*:purged").starts_with("*1\r\n"));
}

/// Purges a path by way of a server.
type Purge = fn(&Server, &str);

#[test]
fn a_purge_reaches_all_servers() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    let other = node("c", &store, "CacheKeyVersion 2");
    let purges: [(&str, Purge); 4] = [
        ("a URL", |server, path| drop(server.control(["purge", &format!("http://localhost{path}")]).succeeded())),
        ("the begin of URLs", |server, path| drop(server.control(["purge", &format!("{path}*")]).succeeded())),
        ("PURGE", |server, path| {
            let mut connection = Connection::open(&Address::Tcp(server.site.port)).expect("it listens");
            connection.ask(Request::new("PURGE", path)).is(200);
        }),
        ("a POST", |server, path| drop(server.post(path, "x=1").is(200))),
    ];
    for (number, (what, purge)) in purges.into_iter().enumerate() {
        let (path, stored) = (format!("/{number}"), resources(&store).len());
        let page = |server: &Server| ask(server, &path, MINUTE).text();
        // The page is in the memory of all, and in the store for each version.
        let before = page(&servers[0]);
        until_stored(&store, stored + 1);
        assert_eq!(page(&servers[1]), before, "{what}");
        let other_before = page(&other);
        until_stored(&store, stored + 2);
        purge(&servers[0], &path);
        until(what, || page(&servers[1]) != before);
        until(what, || page(&other) != other_before);
        assert_ne!(page(&servers[0]), before, "{what}: neither memory nor store has the old page");
    }
}

#[test]
fn a_purge_waits_for_a_store_that_is_away_and_is_not_missed() {
    let site = Site::new();
    let mut store = Redis::start(&site, &[]);
    let servers = nodes(&store, "");
    assert_eq!(ask(&servers[0], "/a", MINUTE).text(), "a run 1");
    until_stored(&store, 1);
    assert_eq!(ask(&servers[1], "/a", MINUTE).text(), "a run 1");
    store.stop();
    for server in &servers {
        until("the store is away", || state(server, STORE, "connected") == false);
        server.logged("each server has its own responses only until the store answers");
    }
    servers[0].control(["purge", "/a"]).succeeded();
    assert_eq!(ask(&servers[1], "/a", MINUTE).text(), "a run 1", "it has not learned of it");
    assert_eq!(ask(&servers[0], "/a", MINUTE).text(), "a run 2", "all goes on without the store");
    store.restart();
    until("the purge has arrived", || ask(&servers[1], "/a", MINUTE).text() != "a run 1");
}

#[test]
fn a_frozen_store_costs_one_wait() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let server = node("a", &store, "StoreTimeout 100ms");
    store.signal(Signal::SIGSTOP);
    for number in 0..20 {
        ask(&server, &format!("/{number}"), MINUTE).is(200);
    }
    assert_eq!(state(&server, STORE, "late"), 1);
    server.logged("does not answer within StoreTimeout 100ms");
    assert_eq!(ask(&server, "/1", MINUTE).text(), "a run 2", "the memory still answers");
    store.signal(Signal::SIGCONT);
    until_connected(&[&server], STORE);
}

#[test]
fn a_damaged_foreign_or_large_entry_is_as_good_as_none() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let first = node("a", &store, "");
    let pages = 6;
    for number in 0..pages {
        ask(&first, &format!("/{number}"), MINUTE).is(200);
        until_stored(&store, number + 1);
    }
    let name = resources(&store).remove(0);
    let begin = name.get(..name.len() - 64).expect("a digest at the end");
    let script = "local keys = redis.call('KEYS', ARGV[1]..'*')
        table.sort(keys)
        local n, last = 0, nil
        for _, key in ipairs(keys) do
            if #key == #ARGV[1] + 64 then
                for _, field in ipairs(redis.call('HKEYS', key)) do
                    if field ~= 'vary' then
                        local value = redis.call('HGET', key, field)
                        local head, version, rest = string.match(value, '^(%d+ %d+ %x+ )(.)(.*)$')
                        n = n + 1
                        local kinds = { head..version..string.sub(rest, 1, -2), head..'\\2'..rest, 'nonsense',
                            string.rep('x', 3000000), last or '', head..version..string.sub(rest, 1, 90)..'!'..string.sub(rest, 92) }
                        redis.call('HSET', key, field, kinds[n])
                        last = value
                    end
                end
            end
        end
        return n";
    let changed = store.command(&[b"EVAL", script.as_bytes(), b"0", begin.as_bytes()]);
    assert_eq!(changed, format!(":{pages}\r\n"));
    let second = node("b", &store, "");
    for number in 0..pages {
        assert_eq!(ask(&second, &format!("/{number}"), MINUTE).text(), format!("b run {}", number + 1));
    }
    assert_eq!(state(&second, STORE, "connected"), true);
    // A key of another type.
    store.ask("FLUSHALL");
    let key = {
        ask(&first, "/new", MINUTE).is(200);
        until_stored(&store, 1);
        resources(&store).remove(0)
    };
    store.command(&[b"DEL", key.as_bytes()]);
    store.command(&[b"SET", key.as_bytes(), b"text"]);
    assert_eq!(ask(&second, "/new", MINUTE).text(), format!("b run {}", pages + 1));
    until("the key is replaced", || store.command(&[b"TYPE", key.as_bytes()]) == "+hash\r\n");
}

#[test]
fn a_response_that_is_too_large_stays_on_its_server() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = nodes(&store, "CacheSocacheMaxSize 4M");
    let long = || Request::get("/a").header("X-Do", "long").header("X-Answer", MINUTE);
    servers[0].send(long()).is(200);
    servers[0].send(long()).is(200);
    assert_eq!(runs(&servers[0]), 1, "in memory it is stored");
    servers[1].send(long()).is(200);
    assert_eq!((runs(&servers[1]), resources(&store).len()), (1, 0));
}

#[test]
fn servers_with_another_version_of_the_code_exchange_no_pages() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = [node("a", &store, "CacheKeyVersion 1"), node("b", &store, "CacheKeyVersion 2")];
    assert_eq!(ask(&servers[0], "/a", MINUTE).text(), "a run 1");
    until_stored(&store, 1);
    assert_eq!(ask(&servers[1], "/a", MINUTE).text(), "b run 1");
}
