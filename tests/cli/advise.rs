//! `cameleer advise`.

use serde_json::Value;

use crate::support::{Load, Server, Site, until};

/// The recommendations of `advise`, by the names of their rules.
#[track_caller]
fn advice(server: &Server, seconds: &str) -> Vec<(String, Value)> {
    let output = server.control(["advise", "--json", "--seconds", seconds]).succeeded();
    let given: Value = serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let advice = given["advice"].as_array().expect("a list").clone();
    advice.into_iter().map(|one| (one["rule"].as_str().expect("a name").to_owned(), one)).collect()
}

fn find<'a>(advice: &'a [(String, Value)], rule: &str) -> Option<&'a Value> {
    advice.iter().find(|(name, _)| name == rule).map(|(_, one)| one)
}

#[test]
fn a_healthy_server_gets_a_list_of_the_checks() {
    let server =
        Site::new().file("app.psgi", "sub { [200, [], ['ok']] }").serve("<Location />\nPsgiApp app.psgi\n</Location>");
    server.text("/");
    server.until_idle(2);
    let output = server.control(["advise"]).succeeded().out;
    assert!(output.starts_with("no advice; checked: workers that are all busy"), "{output}");
}

#[test]
fn the_advice_names_the_place_of_busy_workers() {
    let app = "sub { select undef, undef, undef, 3; [200, [], ['ok']] }";
    let server = Site::new().file("app.psgi", app).serve("<Location />\nPsgiApp app.psgi\n</Location>");
    let load = Load::start(&server, 6, "/report?x=1", |answer| answer.status == 200);
    until("the advice appears", || {
        let given = advice(&server, "2");
        find(&given, "all-busy").is_some_and(|one| {
            let evidence = one["evidence"].as_str().expect("a sentence");
            evidence.contains("2 of 2 workers are busy")
                && evidence.contains("2 of them at GET /report;")
                && evidence.contains("; 2 of 2 are in (sselect) at ")
        })
    });
    drop(load.failures());
}

#[test]
fn the_advice_names_costly_directives_with_their_lines() {
    let conf = "\nKeepAlive Off\nHostnameLookups On\n<Location />\nPsgiApp app.psgi\n</Location>";
    let server = Site::new().file("app.psgi", "sub { [200, [], ['ok']] }").serve(conf);
    let given = advice(&server, "0");
    let keep_alive = find(&given, "keep-alive").expect("a word");
    assert!(
        keep_alive["evidence"].as_str().is_some_and(|line| line.ends_with("site.conf:2: KeepAlive Off")),
        "{given:?}"
    );
    assert_eq!(keep_alive["change"], "KeepAlive On");
    assert!(find(&given, "hostname-lookups").is_some(), "{given:?}");
}

#[test]
fn the_advice_reports_workers_that_end_after_few_requests() {
    let conf = "MaxRequestsPerChild 2\n<Location />\nPsgiApp app.psgi\n</Location>";
    let server = Site::new().file("app.psgi", "sub { [200, [], ['ok']] }").serve(conf);
    let load = Load::start(&server, 2, "/", |answer| answer.status == 200);
    load.until_answered(60);
    until("the advice appears", || find(&advice(&server, "0"), "recycled").is_some());
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
fn advice_and_status_name_what_a_refork_would_save() {
    let app = "sub { $My::table ||= [map { \"entry $_\" } 1 .. 60_000]; require Text::Abbrev; [200, [], ['ok']] }";
    let server = Site::new().file("app.psgi", app).serve("<Location />\nPsgiApp app.psgi\n</Location>");
    let load = Load::start(&server, 4, "/table", |answer| answer.status == 200);
    load.until_answered(400);
    assert_eq!(load.failures(), Vec::<String>::new());
    until("the advice appears", || {
        let given = advice(&server, "0");
        find(&given, "refork").is_some_and(|one| {
            let evidence = one["evidence"].as_str().expect("a sentence");
            evidence.contains("would save about ")
                && evidence.contains("Text::Abbrev")
                && one["change"] == "Refork auto"
        })
    });
    let status = server.control(["status"]).succeeded().out;
    let line = status.lines().find(|line| line.starts_with("refork would save about ")).expect("a line");
    assert!(line.ends_with("(Refork auto); cameleer advise names what it shares"), "{line}");
    assert!(server.status()["memory"]["refork_saves"].as_u64() > Some(1 << 20), "{:?}", server.status()["memory"]);
    server.site.configure("Refork auto\n<Location />\nPsgiApp app.psgi\n</Location>");
    server.reload().succeeded();
    assert!(server.status()["memory"]["refork_saves"].is_null(), "it is on");
}
