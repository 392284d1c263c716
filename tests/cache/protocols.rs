//! One cache for all protocols and all threads.

use std::process::Command;
use std::thread::spawn;

use super::serve;
use crate::support::{Connection, Finished, Request};

const MINUTE: &str = "200|Cache-Control: max-age=60";

#[test]
fn a_response_stored_by_http_1_is_reused_for_http_2() {
    let site = serve("Protocols h2c http/1.1");
    let first = site.ask("/a", MINUTE);
    let curl = |more: &[&str]| {
        let arguments = ["-sSi", "--noproxy", "*", "--http2-prior-knowledge"];
        let url = site.0.site.filled("http://localhost:@PORT@/a");
        // The host is part of the cache key, and curl adds the port to it.
        let host = ["-H", "Host: localhost", "-H", "X-Answer: 200|Cache-Control: max-age=60"];
        Finished::of(Command::new("curl").args(arguments).args(host).args(more).arg(url)).succeeded().out
    };
    let hit = curl(&[]);
    assert!(
        hit.starts_with("HTTP/2 200") && hit.contains("x-cache: HIT from localhost") && hit.contains("age: "),
        "{hit}"
    );
    assert!(hit.ends_with(&first.text()), "{hit}");
    let head = curl(&["-I"]);
    assert!(head.contains("content-length: 5"), "{head}");
    assert_eq!(site.runs(), 1);
}

/// Many clients and pages, a small cache, several threads: each client gets the page that it requested.
#[test]
fn each_client_gets_the_page_that_it_requested() {
    let site = serve("FrontThreads 3\nCacheSize 64K\nCacheSocacheMaxSize 60K\nSetOutputFilter DEFLATE");
    let client = |number: usize| {
        let address = site.0.address.clone();
        spawn(move || {
            let mut connection = Connection::open(&address).expect("it listens");
            for round in 0..150 {
                let page = (round * 7 + number * round) % 60;
                let vary = ["de", "en"][(round + number) % 2];
                let request =
                    Request::get(&format!("/page/{page}")).header("X-Do", "env").header("Accept-Language", vary);
                let answer = format!("{MINUTE}|Vary: Accept-Language|X-Own: {page} {vary}|ETag: \"{page}{vary}\"");
                let page_said = connection.ask(request.header("X-Answer", &answer));
                assert_eq!(page_said.status, 200, "{page_said:?}");
                assert!(page_said.text().contains(&format!("\nREQUEST_URI=/page/{page}\n")), "{page} {page_said:?}");
                assert_eq!(page_said.header("x-own"), Some(format!("{page} {vary}")));
                if round % 10 == 0 {
                    connection.ask(Request::post(&format!("/page/{page}"), "").header("X-Answer", "204"));
                }
            }
        })
    };
    let clients: Vec<_> = (0..6).map(client).collect();
    clients.into_iter().for_each(|client| client.join().expect("each got his own"));
    assert!(site.runs() < 6 * 165, "and some were kept");
}
