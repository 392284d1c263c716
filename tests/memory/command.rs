//! `cameleer mem`: the table, the picture (`--svg`) and the calculator (`--plan`).

use super::control_group::ControlGroup;
use super::{conf, has_pid, measured, number, of_role, serve};
use crate::support::{Request, Server, Site, colours, eventually, free_port};

/// The expected figures are those of the documents.
#[test]
fn the_calculator_gives_what_the_documents_give() {
    let site = Site::new();
    let plan = |arguments: &[&str]| {
        let mut command = site.command(["mem", "--plan"]);
        crate::support::Finished::of(command.args(arguments)).succeeded().out
    };
    for (arguments, clients, also) in [
        (&["--ram", "500M", "--process", "10M", "--shared", "4M"][..], 82, "+64  %"),
        (&["--ram", "500M", "--process", "10M", "--shared", "8M"], 246, "+392  %"),
        (&["--ram", "500M", "--process", "10M"], 50, "500 MB / 10.0 MB"),
        (&["--ram", "400M", "--process", "10M"], 40, "400 MB / 10.0 MB"),
    ] {
        let output = plan(arguments);
        let first: Vec<&str> = output.lines().next().expect("a line").split_whitespace().collect();
        assert_eq!(first[..2], ["MaxClients", &clients.to_string()], "{output}");
        assert!(output.contains(also), "{output}");
    }
    let most = u64::MAX.to_string();
    assert!(plan(&["--ram", &most, "--process", "2", "--shared", "1"]).contains(&(u64::MAX - 1).to_string()));
    let json = plan(&["--ram", "500M", "--process", "10M", "--shared", "4M", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((number(&plan["max_clients"]), number(&plan["without_sharing"])), (82, 50));
}

#[test]
fn values_that_cannot_be_calculated_are_refused() {
    let site = Site::new();
    let arguments = ["mem", "--plan", "--ram", "500M", "--process", "10M", "--shared", "10M"];
    site.cameleer(arguments).failed(2, "--shared must be less than --process");
    site.cameleer(["mem", "--plan", "--ram", "500M", "--process", "0"]).failed(2, "--shared must be less");
    site.cameleer(["mem", "--plan", "--ram", "many"]).failed(2, "expected a size like 64K, 512M or 2G");
    site.cameleer(["mem", "--ram", "500M"]).failed(2, "--plan");
    site.cameleer(["mem", "--socket", "nowhere"]).failed(1, "no server answers at nowhere");
}

#[test]
fn the_running_pool_is_shown_and_planned_with() {
    let server = serve("my %d = map { $_ => 'x' x 1000 } 1 .. 10_000; sub { [200, [], [scalar keys %d]] }", 3);
    server.text("/");
    let table = server.control(["mem"]).succeeded().out;
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    for word in ["master", "front", "mold 1", "worker 0", "worker 1", "worker 2", "in all", "more fit into"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let metrics = measured(&server);
    assert_eq!(of_role(&metrics, "worker").len(), 3);
    let (total, shared) = (&metrics["total"], number(&of_role(&metrics, "mold")[0]["sizes"]["shared_anonymous"]));
    assert!(shared > 10_000_000, "the data is shared: {metrics}");
    assert!(number(&total["rss"]) > number(&total["pss"]) + 3 * shared, "RSS counts it with each: {metrics}");
    let plan = server.control(["mem", "--plan"]).succeeded().out;
    assert!(plan.contains("without sharing") && plan.contains("by the private memory of workers"), "{plan}");
    let plan = server.control(["mem", "--plan", "--ram", "256M"]).succeeded().out;
    assert!(plan.contains("(256 MB - "), "{plan}");
}

#[test]
fn a_leak_is_growth_by_a_thousand_requests_and_overwriting_is_decay() {
    let server = serve(
        "my @shared = map { 'x' x 10_000 } 1 .. 2000; my @leak;\n\
         sub { my $path = $_[0]{PATH_INFO};\n\
           if ($path eq '/leak') { push @leak, 'y' x 20_000 }\n\
           if ($path eq '/write') { substr($shared[$_], 0, 10_000, 'z' x 10_000) for 0 .. 999 }\n\
           [200, [], [$$]] }",
        2,
    );
    let mut connection = server.connect();
    for _ in 0..300 {
        connection.ask(Request::get("/leak")).is(200);
    }
    let metrics = measured(&server);
    let growths: Vec<i64> =
        of_role(&metrics, "worker").iter().filter_map(|worker| worker["growth_per_1000"].as_i64()).collect();
    assert!(growths.iter().any(|growth| (19_000_000..30_000_000).contains(growth)), "20 kB a request: {metrics}");

    let pid = connection.ask(Request::get("/write")).is(200).text();
    let metrics = measured(&server);
    for worker in of_role(&metrics, "worker") {
        let share = worker["of_mold"].as_f64().expect("a number");
        match has_pid(worker, &pid) {
            true => assert!((0.4..0.75).contains(&share), "half of the data was written: {metrics}"),
            false => assert!(share > 0.9, "{metrics}"),
        }
    }
}

#[test]
fn the_picture_is_one_file_that_needs_no_other() {
    let server = serve("sub { [200, [], ['here']] }", 2);
    let file = server.site.filled("@DIR@/pool.svg");
    let output = server.control(["mem", "--svg", &file]).succeeded();
    assert_eq!(output.out, "");
    let picture = server.site.read("pool.svg");
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    assert!(picture.contains("prefers-color-scheme:dark") && picture.contains(">worker 1</text>"), "{picture}");
    assert!(!picture.contains("href") && !picture.contains("url("), "{picture}");
    let drawn = colours(&server.site, "pool.svg");
    assert_eq!(drawn[0].0, "ffffff", "the paper: {drawn:?}");
    for bar in ["c2410c", "0f766e"] {
        assert!(drawn.iter().any(|(colour, count)| colour == bar && *count > 100), "{bar}: {drawn:?}");
    }
    let nowhere = server.site.filled("@DIR@/none/pool.svg");
    server.control(["mem", "--svg", &nowhere]).failed(1, "cannot write");
}

/// The limit of a control group allows fewer workers than the machine's memory.
#[test]
fn the_limit_of_a_control_group_is_a_bound() {
    let Some(group) = ControlGroup::new("bound") else {
        return println!("NOT VERIFIED: no control group can be made here");
    };
    group.limit(200 << 20);
    let site = Site::new().file("app.psgi", "sub { [200, [], ['here']] }");
    site.configure(&conf(1));
    let server = Server::start_by(site, &["sh", "-c", &group.enter()]);
    server.text("/");
    let metrics = measured(&server);
    assert_eq!(metrics["available"]["bound"], "cgroup", "{metrics}");
    let (available, one) = (number(&metrics["available"]["bytes"]), number(&metrics["one_more_worker"]));
    let used = (200 << 20) - available;
    assert!(used * 2 > number(&metrics["given_back"]) && used < 100 << 20, "the server's memory is used: {metrics}");
    assert_eq!(number(&metrics["more_workers"]), available / one);
}

/// A program that a request has started counts as part of the server while it runs.
#[test]
fn child_processes_of_a_worker_are_counted() {
    let server = serve(
        "sub { if ($_[0]{PATH_INFO} eq '/start') { my $pid = fork // die; exec 'sleep', 60 if !$pid; return [200, [], [$pid]] }\n\
         kill 'KILL', $1 if $_[0]{PATH_INFO} =~ m{/end/(\\d+)}; wait; [200, [], ['ended']] }",
        1,
    );
    let pid = server.text("/start");
    let metrics = measured(&server);
    let children = of_role(&metrics, "child");
    assert!(children.iter().any(|child| has_pid(child, &pid)), "{metrics}");
    assert_eq!(server.text(&format!("/end/{pid}")), "ended");
}

/// After a refork there are two molds. Each worker is compared with the mold that forked it.
#[test]
fn every_mold_is_shown_and_workers_are_compared_with_their_own() {
    let server = serve("my @shared = map { 'x' x 1000 } 1 .. 5000; sub { [200, [], [$$]] }", 2);
    for _ in 0..20 {
        server.text("/");
    }
    server.control(["refork"]).succeeded();
    let (metrics, molds) = eventually("workers of the second mold", || {
        let metrics = measured(&server);
        let workers = of_role(&metrics, "worker").into_iter().filter_map(|worker| worker["mold"].as_i64());
        let molds: std::collections::BTreeSet<i64> = workers.collect();
        let all: Vec<i64> = of_role(&metrics, "mold").iter().filter_map(|mold| mold["pid"].as_i64()).collect();
        (all.len() == 2 && molds.len() == 1 && all.first() == molds.first()).then_some((metrics, molds))
    });
    assert!(molds.iter().all(|mold| *mold > 0));
    let shares = |worker: &&serde_json::Value| worker["of_mold"].as_f64();
    assert!(of_role(&metrics, "worker").iter().filter_map(shares).all(|share| share > 0.8), "{metrics}");
    assert_eq!(of_role(&metrics, "worker").iter().filter_map(shares).count(), 2, "{metrics}");
}

#[test]
fn helpers_of_the_server_have_their_names() {
    let app = "sub { [200, [], ['here']] }";
    let site = Site::new().file("app.psgi", app);
    let server = site.serve(&format!(
        "MemoryBudget 1G\nSlowLog 5s\nAdminListen 127.0.0.1:{}\n<Location />\nPsgiApp app.psgi\n</Location>\n",
        free_port()
    ));
    let table = eventually("all helpers are listed", || {
        let table = server.control(["mem"]).succeeded().out;
        let has = |name: &str| table.lines().any(|line| line.starts_with(name));
        ["sampler ", "profiler ", "monitor "].into_iter().all(has).then_some(table)
    });
    assert!(!table.contains("child"), "{table}");
    let json = server.control(["mem", "--json"]).succeeded().out;
    assert!(["sampler", "profiler", "monitor"].iter().all(|role| json.contains(&format!("\"{role}\""))), "{json}");
}
