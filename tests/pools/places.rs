//! Further contents of a place in another pool: applications, `.htaccess` files, warm-ups, handlers of other phases.

use super::{BOTH, mold_of, site, who};
use crate::support::until;

#[test]
fn an_application_is_loaded_in_the_pool_of_its_place() {
    let conf = format!(
        "{BOTH}\n<WorkerPool app>\n</WorkerPool>\n<Location /app>\nPerlPool app\nPsgiApp app.psgi\n</Location>"
    );
    let app = "my $mold = $$; sub { [200, [], [join '|', $mold, $$, $_[0]{SCRIPT_NAME}]] }";
    let server = site().file("app.psgi", app).serve(&conf);
    let text = server.text("/app/x");
    let words: Vec<&str> = text.split('|').collect();
    assert_eq!((words[0], words[2]), (mold_of(&server, "app")["pid"].to_string().as_str(), "/app"));
    who(&server, "/old/who");
}

#[test]
fn htaccess_files_speak_the_api_of_the_pool_they_lie_in() {
    let handler = |names: &str| format!("SetHandler perl-script\n{names} 'sub {{ $_[0]->print(ref $_[0]); 0 }}'\n");
    let conf = format!(
        "{BOTH}\nPerlHtaccess On\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n<Location /1>\nPerlPool old\n</Location>"
    );
    let site = site()
        .file("htdocs/1/.htaccess", &handler("PerlHandler"))
        .file("htdocs/1/a", "")
        .file(
            "htdocs/2/.htaccess",
            &(handler("PerlResponseHandler") + "PerlModule Apache2::RequestIO Apache2::RequestRec\n"),
        )
        .file("htdocs/2/a", "");
    let server = site.serve(&conf);
    assert_eq!(server.text("/1/a"), "Apache");
    assert_eq!(server.text("/2/a"), "Apache2::RequestRec");
}

#[test]
fn one_htaccess_file_is_for_places_of_both_pools() {
    let script = "print qq(Content-Type: text/plain\\n\\n), ref $_[0], $ENV{COMMON};";
    let conf = BOTH.replace("@DIR@/scripts/", "@DIR@/htdocs/both/");
    let server = site()
        .file("htdocs/both/.htaccess", "PerlOptions +GlobalRequest\nPerlSetEnv COMMON yes\n")
        .script("htdocs/both/common", script)
        .serve(&format!("{conf}\nPerlHtaccess On\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>"));
    assert_eq!(server.text("/new/common"), "Apache2::RequestRecyes");
    assert_eq!(server.text("/old/common"), "Apacheyes");
}

#[test]
fn a_warm_up_loads_no_application_of_another_pool() {
    let app = "open my $note, '>>', '@DIR@/loaded'; print $note qq($$\\n); sub { [200, [], ['app']] }";
    let conf = format!(
        "{BOTH}\n<WorkerPool app>\n</WorkerPool>\n<Location /app>\nPerlPool app\nPsgiApp app.psgi\n</Location>\nPerlWarmup /app/x"
    );
    let server = site().file("app.psgi", app).serve(&conf);
    assert_eq!(server.text("/app/x"), "app");
    assert_eq!(server.site.read("loaded"), format!("{}\n", mold_of(&server, "app")["pid"]));
    assert!(!server.log().contains("warm-up:"), "{}", server.log());
}

#[test]
fn each_mold_warms_up_what_its_workers_will_answer() {
    let conf = format!("{BOTH}\nPerlWarmup /old/count\nPerlWarmup /new/count");
    let count = "our $count; $count++; print qq(Content-Type: text/plain\\n\\n$count);";
    let server = site().script("scripts/count", count).serve(&conf);
    assert_eq!((server.text("/old/count"), server.text("/new/count")), ("2".to_owned(), "2".to_owned()));
    assert!(!server.log().contains("warm-up:"), "{}", server.log());
}

#[test]
fn early_handlers_run_in_the_locations_pool() {
    let conf = format!("{BOTH}\nPerlSetEnv IN_BOTH 1\nPerlPostReadRequestHandler My");
    let handler = "package My;\nsub handler { $_[0]->notes->{seen} = 1 if ref $_[0] eq 'Apache2::RequestRec'; $ENV{EARLY} = $$; 0 }\n1;\n";
    let server = site()
        .file("lib/My.pm", handler)
        .script("scripts/early", "print qq(Content-Type: text/plain\\n\\n$$ ), $ENV{IN_BOTH};")
        .serve(&conf.replace("PerlPostReadRequestHandler My", "PerlPostReadRequestHandler 'sub { 0 }'"));
    for target in ["/old/early", "/new/early"] {
        assert!(server.text(target).ends_with(" 1"), "{target}");
    }
}

#[test]
fn status_and_metrics_show_pools() {
    let server = site().serve(&format!("{BOTH}\n<Location /metrics>\nSetHandler server-metrics\n</Location>"));
    who(&server, "/old/who");
    let table = server.control(["status"]).succeeded().out;
    let line =
        |start: &str| table.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {table}"));
    assert!(line("  pool default  PerlGeneration 2  mold ").contains("2 workers of 2, 0 busy, 0 queued"), "{table}");
    assert!(line("  pool old  PerlGeneration 1  mold ").contains("1 workers of 1, 0 busy, 0 queued"), "{table}");
    assert!(table.lines().any(|line| line.contains(" old ") && line.contains("GET /old/who)")), "{table}");
    until("the metrics have all", || {
        let metrics = server.text("/metrics");
        let has = |sample: &str| metrics.lines().any(|line| line == sample);
        has("cameleer_workers{pool=\"old\",state=\"idle\"} 1")
            && has("cameleer_workers{pool=\"default\",state=\"idle\"} 2")
            && has("cameleer_queue_depth{pool=\"old\"} 0")
            && metrics.lines().any(|line| line.starts_with("cameleer_worker_requests{pool=\"old\",worker="))
    });
    let mem = server.control(["mem"]).succeeded().out;
    for name in ["old", "default"] {
        let pid = mold_of(&server, name)["pid"].to_string();
        assert!(mem.lines().any(|line| line.contains(&pid)), "{pid}: {mem}");
    }
}

#[test]
fn explain_names_the_pool_of_a_path() {
    let site = site();
    site.configure(BOTH);
    let output = site.cameleer(["explain", "-f", "site.conf", "get", "/old/who"]).succeeded().out;
    let line = output.lines().find(|line| line.starts_with("  workers ")).unwrap_or_else(|| panic!("{output}"));
    assert!(line.contains("of pool old, PerlGeneration 1  ") && line.contains("site.conf:"), "{line}");
    assert!(!output.contains("StartServers 1"), "{output}");
}

#[test]
fn an_error_page_is_made_where_the_error_was_found() {
    // For a missing file, the front passes the error page's address to that place's pool. A program's error page is
    // made in the program's worker, which cannot run a page of another API.
    let conf = format!("{BOTH}\nErrorDocument 404 /old/who");
    let server = site().serve(&conf);
    let text = server.get("/nothing").is(404).text();
    assert!(text.ends_with("|Apache|mod_perl/1.31||1|0"), "{text}");
    let text = server.get("/new/nothing").is(404).text();
    assert!(text.contains("There is no page at this address"), "{text}");
    server.logged("GET /new/nothing: Can't locate object method");
}

#[test]
fn a_script_that_names_another_place_is_answered_there() {
    let server = site().script("scripts/to", "print qq(Location: /old/who\\n\\n);").serve(BOTH);
    assert_eq!(who(&server, "/new/to").1, "Apache|mod_perl/1.31||1|0");
}
