//! `cameleer bloat`.

use serde_json::Value;

use crate::support::{Finished, Site};

#[track_caller]
fn measured<const N: usize>(site: &Site, expressions: [&str; N]) -> Vec<Value> {
    let mut command = site.command(["bloat", "--json", "-I", "lib"]);
    let output = Finished::of(command.args(expressions)).succeeded();
    serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn number(measured: &Value, field: &str) -> i64 {
    measured[field].as_i64().unwrap_or_else(|| panic!("no {field} in {measured}"))
}

fn growth(measured: &Value, of: &str) -> i64 {
    number(measured, &format!("{of}_after")) - number(measured, &format!("{of}_before"))
}

fn names<'a>(measured: &'a Value, field: &str) -> Vec<&'a str> {
    measured[field].as_array().expect("a list").iter().map(|name| name.as_str().expect("a name")).collect()
}

#[test]
fn memory_that_code_takes_is_that_of_its_process() {
    let site = Site::new();
    let all = measured(&site, ["our $kept = 'x' x 20_000_000", "my $freed = 'x' x 20_000_000; undef $freed"]);
    let [nothing, kept, freed] = all.as_slice() else { panic!("{all:?}") };
    // File pages become private when another process that shared them ends, as happens in concurrent tests.
    assert!(growth(nothing, "heap") < 500_000, "{nothing}");
    // Some pages may already be free, and perl's constant folding may allocate the string twice.
    assert!((19_900_000..42_000_000).contains(&growth(kept, "heap")), "{kept}");
    assert!(growth(freed, "heap") < growth(kept, "heap"), "{freed}");
}

#[test]
fn modules_files_and_system_calls_are_counted() {
    let site = Site::new().file("lib/My/Small.pm", "package My::Small; our $n = open my $f, '<', '/etc/hostname'; 1;");
    let all = measured(&site, ["use My::Small", "use CGI ()", "open my $f, '<', '/no/such/file'; 1"]);
    let [nothing, small, cgi, failed] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(names(small, "modules"), ["My/Small.pm"]);
    let files = names(small, "files");
    assert!(files.contains(&"/etc/hostname") && files.iter().any(|file| file.ends_with("lib/My/Small.pm")), "{small}");
    assert!(names(cgi, "modules").contains(&"CGI.pm") && names(cgi, "files").len() > 2, "{cgi}");
    assert!(growth(cgi, "heap") > 200_000, "{cgi}");
    assert!(number(cgi, "system_calls") > number(small, "system_calls"), "{cgi}");
    assert!(number(small, "system_calls") > number(nothing, "system_calls") + 4, "{small}");
    assert_eq!(number(failed, "missed"), number(nothing, "missed") + 1, "{failed}");
    assert_eq!((names(nothing, "modules"), names(nothing, "files")), (vec![], vec![]));
    let output = site.cameleer(["bloat", "-l", "-I", "lib", "use My::Small"]).succeeded().out;
    assert!(output.lines().nth(1).is_some_and(|line| line.ends_with("  (nothing)")), "{output}");
    assert!(output.contains("\nmodules of use My::Small:\n    My/Small.pm\n"), "{output}");
}

#[test]
fn code_with_match_variables_is_named_with_its_line() {
    let site = Site::new()
        .file("lib/Top.pm", "package Top;\n'abc' =~ /b/;\nour $x = $&;\n1;\n")
        .file("lib/Inner.pm", "package Inner;\nsub f {\n  my $x = shift;\n  return sub {\n    $x . $` }\n}\n1;\n")
        .file("lib/Named.pm", "package Named;\nuse English;\n1;\n")
        .file("lib/Clean.pm", "package Clean;\nsub f { $_[0] =~ /(b)/ ? \"$1 \\$&\" : $+[0] } # $&\n1;\n");
    let all = measured(&site, ["use Top", "use Inner; use Top", "use Named", "use Clean", "sub f { $' }"]);
    let found: Vec<Vec<String>> = all[1..].iter().map(|one| places(&site, one)).collect();
    assert_eq!(found[0], ["$& @lib/Top.pm 3"]);
    assert_eq!(found[1], ["$& @lib/Top.pm 3", "$` @lib/Inner.pm 5"]);
    assert_eq!(found[2].len(), 3, "{found:?}");
    assert!(found[2].iter().all(|place| place.ends_with("/English.pm null")), "{found:?}");
    assert_eq!(found[3], Vec::<String>::new());
    assert_eq!(found[4], ["$' (expression) 1"]);
    let table = site.cameleer(["bloat", "-I", "lib", "use Top"]).succeeded().out;
    let line = site.filled("\nuse Top uses match variables:\n    $&  @DIR@/lib/Top.pm:3\nsince perl 5.20");
    assert!(table.contains(&line), "{table}");
}

fn places(site: &Site, measured: &Value) -> Vec<String> {
    let places = measured["match_variables"].as_array().expect("a list");
    let file = |place: &Value| place["file"].as_str().expect("a name").replace(&site.filled("@DIR@/"), "@");
    let of = |place: &Value| format!("{} {} {}", place["variable"].as_str().expect("$&"), file(place), place["line"]);
    places.iter().map(of).collect()
}

#[test]
fn code_that_fails_or_ends_the_process_is_reported() {
    let site = Site::new();
    for (code, expected) in [
        ("die \"no way\\n\"", "no way"),
        ("use No::Such", "Can't locate No/Such.pm in @INC"),
        ("1 +", "syntax error at (expression) line 1"),
        ("exit 4", "called exit(4)"),
        ("kill KILL => $$", "perl was ended by SIGKILL"),
        ("require POSIX; POSIX::_exit(0)", "perl ended without a result"),
        ("exec 'true'", "perl ended without a result"),
    ] {
        site.cameleer(["bloat", code]).failed(1, expected);
    }
}

#[test]
fn signals_and_children_of_the_code_are_its_own() {
    let site = Site::new();
    let code = "local $SIG{USR1} = sub { $got++ }; kill USR1 => $$; system 'true'; $got == 1 && $? == 0 or die 'lost'";
    let all = measured(&site, [code]);
    assert!(number(&all[1], "system_calls") > number(&all[0], "system_calls"), "{all:?}");
}
