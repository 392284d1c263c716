//! `cameleer size`.

use std::os::unix::fs::FileTypeExt;
use std::process::Command;

use serde_json::Value;

use crate::support::{Finished, Site};

const OO: &str = "use CGI ();\nmy $q = CGI->new;\nprint $q->header;\nprint $q->b(\"Hello\");\n";
const PROCEDURAL: &str = "use CGI qw(:standard);\nprint header();\nprint b(\"Hello\");\n";

#[track_caller]
fn sizes<const N: usize>(site: &Site, arguments: [&str; N]) -> Vec<Value> {
    let mut command = site.command(["size", "--json", "-I", "lib"]);
    let output = Finished::of(command.args(arguments)).succeeded();
    serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// Bytes, operators and owner of a sub.
#[track_caller]
fn sub<'a>(measured: &'a Value, name: &str) -> (u64, u64, Option<&'a str>) {
    let subs = measured["subs"].as_array().expect("a list");
    let found = subs.iter().find(|sub| sub["name"] == name).unwrap_or_else(|| panic!("no {name} in {measured}"));
    let number = |field: &str| found[field].as_u64().expect("a number");
    (number("bytes"), number("ops"), found["of"].as_str())
}

#[test]
fn a_script_that_imports_functions_is_larger_than_one_that_calls_methods() {
    let site = Site::new().file("scripts/oo.pl", OO).file("scripts/procedural.pl", PROCEDURAL);
    let measured = sizes(&site, ["scripts/oo.pl", "scripts/procedural.pl"]);
    let [oo, procedural] = measured.as_slice() else { panic!("{measured:?}") };
    let bytes = |measured: &Value| measured["bytes"].as_u64().expect("a number");
    assert!(bytes(procedural) > 2 * bytes(oo), "{} {}", bytes(procedural), bytes(oo));
    assert!(sub(oo, "handler").1 > sub(procedural, "handler").1, "calls of methods are the longer code");
    let (name, ops, of) = sub(procedural, "header");
    assert_eq!((ops, of), (0, Some("CGI::header")));
    assert!((50..1000).contains(&name), "{name} bytes for a name");
    assert!(procedural["package"].as_str().is_some_and(|package| package.ends_with("::procedural_2epl")));
    let output = site.cameleer(["size", "scripts/oo.pl", "scripts/procedural.pl"]).succeeded().out;
    let compared: Vec<&str> = output.lines().rev().take(3).collect();
    assert!(compared[0].ends_with("  scripts/procedural.pl") && compared[1].ends_with("  scripts/oo.pl"), "{output}");
}

#[test]
fn the_largest_sub_is_first_and_the_sum_is_that_of_all() {
    let module =
        "package My::Mod; sub small { 1 } sub large { my %h = @_; join ',', map { \"$_=$h{$_}\" } sort keys %h } 1;";
    let site = Site::new().file("lib/My/Mod.pm", module);
    let measured = &sizes(&site, ["My::Mod"])[0];
    let subs = measured["subs"].as_array().expect("a list");
    let of = |field: &str| subs.iter().map(|sub| sub[field].as_u64().expect("a number")).sum::<u64>();
    assert_eq!((subs[0]["name"].as_str(), subs.len()), (Some("large"), 2), "{measured}");
    assert_eq!((measured["bytes"].as_u64(), measured["ops"].as_u64()), (Some(of("bytes")), Some(of("ops"))));
    assert!(sub(measured, "large").1 > sub(measured, "small").1);
    let output = site.cameleer(["size", "-I", "lib", "My::Mod"]).succeeded().out;
    assert!(output.starts_with("My::Mod\n     bytes     ops  sub\n"), "{output}");
    assert!(output.ends_with("in total, 0 of these bytes for names only\n"), "{output}");
}

#[test]
fn a_sub_counts_once_and_with_the_subs_in_it() {
    let module = "package My::Mod; my $code = join '+', 1 .. 50; sub plain { return 0 }
        sub outer { return sub { my $x = shift; return sub { $x + 1 + length($x) . 'text' } } }
        *again = \\&plain; *{\"made$_\"} = do { my $n = $_; sub { $n + 1 } } for 1 .. 2; 1;";
    let site = Site::new().file("lib/My/Mod.pm", module);
    let measured = &sizes(&site, ["My::Mod"])[0];
    assert_eq!(sub(measured, "plain").2, Some("again"), "{measured}");
    assert!(sub(measured, "outer").1 > 12, "operators of both inner subs: {measured}");
    assert_eq!(sub(measured, "made1").1, 0, "the operators of closures are one piece of code: {measured}");
    assert!(sub(measured, "made1").0 > 100, "{measured}");
}

#[test]
fn output_of_a_module_while_it_is_loaded_is_not_in_the_report() {
    let site = Site::new()
        .file(
            "lib/Loud.pm",
            "package Loud; print \"printed\\n\"; system 'echo shouted'; sub x { 1 } END { print 'end' } 1;",
        )
        .file("lib/Leaves.pm", "package Leaves; exit 3;")
        .file("lib/Dies.pm", "package Dies;\ndie 'no way';")
        .file("lib/Killed.pm", "package Killed; kill KILL => $$;");
    let output = site.cameleer(["size", "-I", "lib", "Loud"]).succeeded();
    assert!(output.out.starts_with("Loud\n     bytes") && output.err.contains("shouted\n"), "{output:?}");
    assert_eq!(sizes(&site, ["Loud"])[0]["name"], "Loud");
    site.cameleer(["size", "-I", "lib", "Leaves"]).failed(1, "Leaves: the code called exit(3)");
    site.cameleer(["size", "-I", "lib", "Dies"]).failed(1, "Dies: no way at ");
    site.cameleer(["size", "-I", "lib", "Killed"]).failed(1, "Killed: perl was ended by SIGKILL");
    site.cameleer(["size", "No::Such"]).failed(1, "No::Such: Can't locate No/Such.pm in @INC");
}

#[test]
fn a_name_of_neither_a_module_nor_a_script_is_an_error() {
    let site = Site::new().file("lib/My.pm", "package My; 1;").file("broken.pl", "my $x = ;\n");
    Finished::of(Command::new("mkfifo").arg(site.path("pipe.pl"))).succeeded();
    assert!(site.path("pipe.pl").metadata().expect("it is there").file_type().is_fifo());
    site.cameleer(["size", "pipe.pl"]).failed(2, "pipe.pl: no such file; give Some::Module or the file of a script");
    site.cameleer(["size", "/dev/zero"]).failed(2, "/dev/zero: no such file");
    site.cameleer(["size", "lib/My.pm"]).failed(2, "give a module by its name, and its folder with -I DIR");
    site.cameleer(["size", "broken.pl"]).failed(1, "broken.pl line 1");
    site.cameleer(["size"]).failed(2, "<MODULE|SCRIPT>");
}
