//! A profiler reads memory that changes meanwhile, and data of any size and content.

use crate::support::{Load, Site};

/// An application that creates and removes subs, packages and files under load, with very long names and control
/// characters.
const RESTLESS: &str = "no warnings;\n\
    my $count = 0;\n\
    sub churn { my $n = ++$count;\n\
    my $package = 'My::' . ('Long' x ($n % 3000)) . \"\\n;\\0$n\";\n\
    { no strict 'refs'; *{\"${package}::sub\"} = sub { my $x = $n; $x += $_ for 1 .. 50; $x }; }\n\
    my $sub = \\&{\"${package}::sub\"}; $sub->();\n\
    eval qq{#line 1 \"a\\tfile;$n\"\\nsub passing { join ',', map { \\$_ * 2 } sort { \\$a <=> \\$b } 1 .. 50 } passing()};\n\
    { no strict 'refs'; undef &{\"${package}::sub\"}; %{\"${package}::\"} = (); }\n\
    my @deep = (1) x 200; my $down; $down = sub { $_[0] ? $down->($_[0] - 1) : 1 }; $down->($n % 150); undef $down;\n\
    local $SIG{__DIE__} = sub { 1 }; eval { die {} };\n\
    $n }\n\
    sub { churn() for 1 .. 20; [200, [], ['done']] }\n";

#[test]
fn profiled_code_may_be_freed_and_compiled_again() {
    let server = Site::new()
        .file("app.psgi", RESTLESS)
        .serve("StartServers 2\nMaxClients 2\nSlowLog 1ms\n<Location />\nPsgiApp app.psgi\n</Location>");
    let load = Load::start(&server, 2, "/", |answer| answer.text() == "done");
    let output = server.control(["profile", "--seconds", "3", "--hertz", "1000", "--json"]).succeeded();
    let failures = load.failures();
    assert!(failures.is_empty(), "{:?}", failures.first());
    let json: serde_json::Value = serde_json::from_str(&output.out).expect("JSON");
    let (samples, torn) = (json["samples"].as_u64().expect("a number"), json["torn"].as_u64().expect("a number"));
    assert!(samples > 100 && torn < samples, "{samples} samples, {torn} torn");
    assert!(!server.log().contains("profiler ended"), "{}", server.log());
}
