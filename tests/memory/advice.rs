//! `cameleer mem --advise`: modules that workers have loaded since the fork.

use serde_json::Value;

use super::number;
use crate::support::{REGISTRY, Server, Site};

/// A module of some megabytes, half of them in a second module that it loads.
const LATE: &str = "package Late; require Late::Part; our @table = map { \"entry $_\" } 1 .. 40_000;
    open my $f, '>>', '@DIR@/loaded'; print $f \"$$\\n\"; close $f; 1;";
const PART: &str = "package Late::Part; our @table = map { \"entry $_\" } 1 .. 40_000; 1;";

fn site() -> Site {
    Site::new().file("lib/Late.pm", LATE).file("lib/Late/Part.pm", PART)
}

#[track_caller]
fn advice(server: &Server) -> Value {
    let output = server.control(["mem", "--advise", "--json"]).succeeded();
    serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn late(advice: &Value) -> &Vec<Value> {
    advice["late"].as_array().expect("a list")
}

#[test]
fn a_module_that_workers_load_is_weighed_and_loaded_by_the_mold_from_then_on() {
    let conf = "MaxClients 1\nStartServers 1\nPerlLib lib\n<Location />\nPsgiApp app.psgi\n</Location>\n";
    let server = site().file("app.psgi", "sub { require Late; [200, [], [$$]] }").serve(conf);
    assert_eq!(late(&advice(&server)).len(), 0, "nobody has asked for anything yet");
    server.text("/");
    server.until_idle(1);
    let given = advice(&server);
    let [module] = &late(&given)[..] else { panic!("Late::Part comes with Late: {given}") };
    assert_eq!(
        (&module["name"], number(&module["workers"]), number(&module["brings"])),
        (&Value::from("Late.pm"), 1, 1)
    );
    let bytes = number(&module["bytes"]);
    assert!((4 << 20..32 << 20).contains(&bytes), "two tables of 40,000 strings: {bytes}");
    let table = server.control(["mem", "--advise", "--write", "preload.pl"]).succeeded().out;
    assert!(table.contains("1 of 1") && table.contains("Late, with 1 more"), "{table}");
    assert!(server.site.read("preload.pl").contains("preload('Late.pm');"), "{}", server.site.read("preload.pl"));
    let loaded = server.site.read("loaded");
    server.site.configure(&conf.replace("PerlLib lib\n", "PerlLib lib\nPerlRequire preload.pl\n"));
    server.reload().succeeded();
    let worker = server.text("/");
    let since = server.site.read("loaded").replacen(&loaded, "", 1);
    assert_eq!(since.lines().count(), 1, "the mold has: {since}");
    assert_ne!(since.trim(), worker);
    server.until_idle(1);
    assert_eq!(late(&advice(&server)).len(), 0);
}

#[test]
fn registry_scripts_are_weighed_and_two_names_of_one_file_are_reported() {
    let table = "my @table = map { \"entry $_\" } 1 .. 10; print \"Content-Type: text/plain\\n\\nok\";";
    let site = site().script("scripts/one.pl", &format!("use Late; {table}"));
    std::os::unix::fs::symlink(site.path("scripts/one.pl"), site.path("scripts/two.pl")).expect("a link in TMPDIR");
    let server = site.serve(REGISTRY);
    assert_eq!(server.text("/perl/one.pl") + &server.text("/perl/two.pl"), "okok");
    server.until_idle(1);
    let given = advice(&server);
    let names: Vec<&str> = late(&given).iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"/perl/one.pl") && names.contains(&"/perl/two.pl"), "{given}");
    let heaviest = &late(&given)[0];
    assert!(number(&heaviest["bytes"]) > 4 << 20 && heaviest["kind"] == "script", "it brings its module: {given}");
    let output = server.control(["mem", "--advise", "--write", "preload.pl"]).succeeded().out;
    assert!(output.contains("one.pl is compiled 2 times: /perl/one.pl, /perl/two.pl"), "{output}");
    server.site.configure(&format!("{REGISTRY}PerlRequire preload.pl\n"));
    server.reload().succeeded();
    assert_eq!(server.text("/perl/one.pl"), "ok");
    server.until_idle(1);
    assert_eq!(late(&advice(&server)).len(), 0, "{}", server.log());
}

#[test]
fn code_that_the_mold_cannot_load_is_reported_and_not_written() {
    let module = "package Odd; die qq{not in the mold\\n} if $ENV{COUNT}++ == 0 && !$main::worker; 1;";
    let crash = "package Crash; kill KILL => $$ if !$main::worker; 1;";
    let app = "sub { $main::worker = 1; require Odd; require Crash; [200, [], ['ok']] }";
    let server = site()
        .file("lib/Odd.pm", module)
        .file("lib/Crash.pm", crash)
        .file("app.psgi", app)
        .serve("MaxClients 1\nStartServers 1\nPerlLib lib\n<Location />\nPsgiApp app.psgi\n</Location>");
    server.text("/");
    server.until_idle(1);
    let output = server.control(["mem", "--advise", "--write", "preload.pl"]).succeeded().out;
    assert!(output.contains("loading in the mold fails: not in the mold"), "{output}");
    assert!(output.contains("loading in the mold fails: the code ended its process"), "{output}");
    assert!(!server.site.read("preload.pl").contains("Odd"), "{}", server.site.read("preload.pl"));
    assert_eq!(server.text("/"), "ok", "the mold and its workers are unharmed");
}

#[test]
fn with_preload_auto_a_reload_loads_what_workers_had_and_leaves_out_what_does_harm() {
    let app = "sub { $main::worker = 1; require Late; require Dies; [200, [], [$$]] }";
    let conf = "LogLevel notice\nMaxClients 1\nStartServers 1\nPerlLib lib\nPerlPreload auto\n<Location />\nPsgiApp app.psgi\n</Location>\n";
    let server = site()
        .file("lib/Dies.pm", "package Dies; die qq{only in workers\\n} if !$main::worker; 1;")
        .file("app.psgi", app)
        .serve(conf);
    server.text("/");
    server.until_idle(1);
    let before = server.site.read("loaded");
    server.reload().succeeded();
    server.logged("PerlPreload: loaded 2 modules and scripts that earlier workers had loaded");
    let worker = server.text("/");
    let since = server.site.read("loaded").replacen(&before, "", 1);
    assert_eq!(since.lines().count(), 3, "the mold has, a trial, and another one, because it reads $$: {since}");
    assert!(since.lines().all(|pid| pid != worker), "{since}");
    server.until_idle(1);
    let names: Vec<Value> = late(&advice(&server)).iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["Dies.pm"], "Late and Late::Part are the mold's");
    server.reload().succeeded();
    server.site.write("lib/Late.pm", "package Late; kill KILL => $$ if !$main::worker; 1;");
    server.reload().succeeded();
    server.logged("PerlPreload: left out: Late.pm (ends its process by SIGKILL)");
    server.text("/");
    server.until_idle(1);
    let names: Vec<Value> = late(&advice(&server)).iter().map(|one| one["name"].clone()).collect();
    assert!(!names.contains(&Value::from("Late/Part.pm")), "it does no harm alone: {names:?}");
}
