//! The cost of `.htaccess` files by their length. The front reads and parses a changed file again.

use super::{Kind, costs_by_its_length_with, counter, each, get};
use crate::support::{PATIENCE, Site};

#[test]
fn htaccess_files_cost_the_front_by_their_length() {
    let counter = counter(
        Site::new().file("htdocs/page.html", "page"),
        "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n",
    );
    let cost = |text: Vec<u8>| {
        counter.server.site.write_bytes("htdocs/.htaccess", &text);
        // When this response arrives, the front has noticed the change.
        counter.server.get("/page.html").is(200);
        counter.server.site.write_bytes("htdocs/.htaccess", &text);
        counter.begin_anew();
        counter.of(|| {
            let mut connection = counter.server.connect();
            connection.patience(PATIENCE);
            connection.raw(get("/page.html", ""));
            assert_eq!(connection.response().status, 200);
            connection.rest();
        })
    };
    costs_by_its_length_with(
        cost,
        &[
            Kind { name: "variables", pieces: 100, send: |n| each(n, |i| format!("SetEnv A{i} b\n")).into_bytes() },
            Kind { name: "headers", pieces: 100, send: |n| each(n, |i| format!("Header set X-A{i} b\n")).into_bytes() },
            Kind { name: "types", pieces: 100, send: |n| each(n, |i| format!("AddType a/b .x{i}\n")).into_bytes() },
            Kind {
                name: "redirections",
                pieces: 100,
                send: |n| each(n, |i| format!("Redirect /x{i} http://a/\n")).into_bytes(),
            },
            Kind {
                name: "files",
                pieces: 50,
                send: |n| each(n, |i| format!("<Files x{i}>\nForceType a/b\n</Files>\n")).into_bytes(),
            },
            Kind {
                name: "one long line",
                pieces: 1000,
                send: |n| format!("SetEnv A \"{}\"\n", "b ".repeat(n)).into_bytes(),
            },
            Kind { name: "comments", pieces: 1666, send: |n| "#\n".repeat(n).into_bytes() },
            Kind {
                name: "lines that go on",
                pieces: 1000,
                send: |n| format!("SetEnv A b{}\n", "\\\n".repeat(n)).into_bytes(),
            },
        ],
    );
}
