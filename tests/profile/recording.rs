//! `cameleer profile`.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::thread;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{held, release, serve};
use crate::support::{Server, Site, children, colours, name, signal, until};

/// The output of a profile taken while a request for `target` is in progress.
fn profile<const N: usize>(server: &Server, target: &str, options: [&str; N]) -> String {
    thread::scope(|scope| {
        let client = held(scope, server, target);
        let words: Vec<&str> = ["profile", "--seconds", "1", "--hertz", "200"].into_iter().chain(options).collect();
        let output = match words.as_slice() {
            [a, b, c, d, e] => server.control([a, b, c, d, e]),
            [a, b, c, d, e, f] => server.control([a, b, c, d, e, f]),
            [a, b, c, d, e, f, g] => server.control([a, b, c, d, e, f, g]),
            [a, b, c, d, e, f, g, h] => server.control([a, b, c, d, e, f, g, h]),
            _ => panic!("so many options"),
        };
        release(server);
        assert_eq!(client.join().expect("an answer").is(200).text(), "done");
        output.succeeded().out
    })
}

/// The folded stack with the largest weight, and its weight.
fn most(folded: &str) -> (String, u64) {
    let lines = folded.lines().filter_map(|line| line.rsplit_once(' '));
    let weights = lines.map(|(stack, weight)| (stack.to_owned(), weight.parse().expect("a number")));
    weights.max_by_key(|(_, weight)| *weight).unwrap_or_else(|| panic!("no stack: {folded}"))
}

#[track_caller]
fn spends_most(target: &str, stack: &str) {
    let server = serve("");
    let (seen, weight) = most(&profile(&server, target, ["--folded"]));
    assert_eq!(seen, format!("GET localhost{target};{stack}"));
    assert!(weight > 5, "{weight} of at most 200 samples");
}

#[test]
fn waiting_has_the_name_of_its_operator() {
    spends_most("/waits", "My::Page::__ANON__;My::Page::waits;(sselect)");
}

#[test]
fn subs_in_c_have_their_names() {
    spends_most("/sleeps", "My::Page::__ANON__;My::Page::sleeps;Time::HiRes::usleep");
}

#[test]
fn a_statement_of_a_database_has_its_name() {
    spends_most("/asks", "My::Page::__ANON__;My::Page::asks;DBI::st::execute");
}

#[test]
fn a_method_in_c_that_calls_others_has_its_name() {
    spends_most("/selects", "My::Page::__ANON__;My::Page::selects;->selectall_arrayref");
}

#[test]
fn a_block_that_c_calls_stands_where_it_was_called() {
    spends_most("/within", "My::Page::__ANON__;My::Page::within;My::Page::__ANON__;My::Page::waits;(sselect)");
}

#[test]
fn an_evaluated_string_is_a_frame() {
    spends_most("/text", "My::Page::__ANON__;My::Page::text;eval;My::Page::waits;(sselect)");
}

#[test]
fn a_file_that_is_run_is_a_frame() {
    let server = serve("");
    let (seen, _) = most(&profile(&server, "/file", ["--folded"]));
    let file = server.site.path("file.pl");
    assert!(seen.ends_with(&format!(";require {};My::Page::waits;(sselect)", file.display())), "{seen}");
}

#[test]
fn a_profile_with_lines_distinguishes_the_lines_of_a_sub() {
    let server = serve("");
    let (seen, _) = most(&profile(&server, "/waits", ["--folded", "--lines"]));
    let app = server.site.path("app.psgi");
    assert!(seen.ends_with(&format!("My::Page::waits {0}:5;(sselect) {0}:5", app.display())), "{seen}");
}

#[test]
fn a_deep_stack_is_shown_by_its_innermost_frames() {
    let server = serve("");
    let (seen, _) = most(&profile(&server, "/deep/3000", ["--folded"]));
    assert!(seen.ends_with(";My::Page::deep;My::Page::waits;(sselect)"), "{seen}");
    assert!(seen.len() < 4000, "{seen}");
}

#[test]
#[ignore = "measures time: `make timing`"]
fn waiting_takes_no_time_of_processors() {
    let server = serve("");
    let waits = most(&profile(&server, "/waits", ["--folded", "--mode", "cpu"])).1;
    std::fs::remove_file(server.site.path("go")).expect("it was there");
    let works = most(&profile(&server, "/works", ["--folded", "--mode", "cpu"])).1;
    assert!(works > waits * 5, "work {works} us, waiting {waits} us");
}

#[test]
fn a_profile_table_marks_database_time() {
    let server = serve("");
    let table = profile(&server, "/asks", []);
    let database = table.lines().find_map(|line| line.strip_prefix("database (DBI and drivers) ")).expect("a line");
    let percent: f64 = database.trim_end_matches(" %").parse().expect("a number");
    assert!(percent > 50.0, "{table}");
    assert!(table.contains("DBI::st::execute") && table.contains("100.0%  GET localhost/asks"), "{table}");
}

#[test]
fn a_path_is_picked() {
    let server = serve("");
    let of_others = profile(&server, "/waits", ["--url", "/other"]);
    assert!(of_others.contains("no worker had a request during the recording"), "{of_others}");
    std::fs::remove_file(server.site.path("go")).expect("it was there");
    let of_these = profile(&server, "/waits", ["--url", "/wait*"]);
    assert!(of_these.contains("My::Page::waits"), "{of_these}");
}

#[test]
fn a_program_gets_frames_with_files_and_lines() {
    let server = serve("");
    let json: Value = serde_json::from_str(&profile(&server, "/waits", ["--json"])).expect("JSON");
    let frames = json["frames"].as_array().expect("a list");
    let app = server.site.path("app.psgi").display().to_string();
    let waits = frames.iter().find(|frame| frame["name"] == "My::Page::waits").expect("the sub");
    assert_eq!((&waits["code"], &waits["file"], &waits["line"]), (&"sub".into(), &app.into(), &5.into()));
    assert_eq!(json["requests"][0]["request"], "GET localhost/waits");
    assert!(json["rounds"].as_u64() >= json["samples"].as_u64(), "{json}");
}

#[test]
fn a_flame_graph_is_drawn() {
    let server = serve("");
    profile(&server, "/waits", ["--svg", "flames.svg"]);
    let drawn = server.site.read("flames.svg");
    assert!(drawn.starts_with("<?xml") && drawn.trim_end().ends_with("</svg>"), "{drawn}");
    assert!(drawn.contains("My::Page::waits"), "{drawn}");
    let colours = colours(&server.site, "flames.svg");
    let paper: u64 = colours.iter().filter(|(colour, _)| colour.starts_with("eeee")).map(|(_, count)| count).sum();
    assert!(paper > 50_000 && colours.len() > 10, "{paper} pixels of paper, {} colours", colours.len());
}

#[test]
fn a_sleep_is_not_cut_short() {
    let server = serve("");
    thread::scope(|scope| {
        let client = held(scope, &server, "/slept");
        server.control(["profile", "--seconds", "1", "--hertz", "1000"]).succeeded();
        assert_eq!(client.join().expect("an answer").is(200).text(), "slept");
    });
}

#[test]
fn handlers_and_registry_scripts_are_seen() {
    let wait = "until (-e '@DIR@/go') { select undef, undef, undef, 0.2 }";
    let handler = format!(
        "package My::Handler; sub handler {{ my $r = shift; {wait} $r->send_http_header('text/plain'); $r->print('done'); 0 }} 1;\n"
    );
    let script = format!("print \"Content-type: text/plain\\n\\n\"; linger(); print 'done'; sub linger {{ {wait} }}\n");
    let site = Site::new();
    let (handler, script) = (site.filled(&handler), site.filled(&script));
    let server = site.file("lib/My/Handler.pm", &handler).script("perl/script.pl", &script).serve(
        "MaxClients 2\nPerlLib lib\n<Location /handler>\nSetHandler perl-script\nPerlHandler My::Handler\n</Location>\n\
         Alias /perl/ perl/\n<Location /perl>\nSetHandler perl-script\nPerlHandler Apache::Registry\n\
         Options +ExecCGI\nPerlSendHeader On\n</Location>",
    );
    let (seen, _) = most(&profile(&server, "/handler", ["--folded"]));
    assert!(seen.contains(";My::Handler::handler;"), "{seen}");
    std::fs::remove_file(server.site.path("go")).expect("it was there");
    let (seen, _) = most(&profile(&server, "/perl/script.pl", ["--folded"]));
    assert!(seen.contains(";Apache::Registry::handler;") && seen.contains("::linger;"), "{seen}");
}

#[test]
fn a_new_generation_is_profiled_as_well() {
    let server = serve("");
    server.control(["profile", "--seconds", "0.1"]).succeeded();
    server.reload().succeeded();
    let (seen, _) = most(&profile(&server, "/waits", ["--folded"]));
    assert!(seen.ends_with("My::Page::waits;(sselect)"), "{seen}");
}

#[test]
fn a_profiler_that_ended_is_started_again() {
    let server = serve("");
    server.control(["profile", "--seconds", "0.1"]).succeeded();
    let profiler = children(server.pid()).into_iter().find(|pid| name(*pid) == "cameleer-prof").expect("it runs");
    signal(profiler, Signal::SIGKILL);
    until("the server knows", || server.log().contains("the profiler ended"));
    let (seen, _) = most(&profile(&server, "/waits", ["--folded"]));
    assert!(seen.ends_with("My::Page::waits;(sselect)"), "{seen}");
}

#[test]
fn a_recording_has_a_maximum_length() {
    let server = serve("");
    for wrong in ["1e18", "-1", "NaN"] {
        server.control(["profile", &format!("--seconds={wrong}")]).failed(2, "expected a number from 0 to 3600");
    }
    let mut control = UnixStream::connect(server.site.path("control.sock")).expect("the control socket");
    control.write_all(b"{\"command\":\"record\",\"seconds\":1e18,\"hertz\":1}\n").expect("written");
    server.get("/none").is(200);
    server.control(["status"]).succeeded();
}

#[test]
#[ignore = "measures time: `make timing`"]
fn two_recordings_at_once_both_see_all_work() {
    let server = serve("");
    thread::scope(|scope| {
        let client = held(scope, &server, "/works");
        let look = || server.control(["profile", "--seconds", "2", "--folded", "--mode", "cpu"]).succeeded().out;
        let other = scope.spawn(look);
        let (one, other) = (most(&look()).1, most(&other.join().expect("a profile")).1);
        release(&server);
        client.join().expect("an answer").is(200);
        assert!(one < other * 3 && other < one * 3, "{one} and {other} us");
    });
}
