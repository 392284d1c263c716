//! How the server finds, loads and caches an application.

use super::serve;
use crate::support::{Finished, Site};

#[test]
fn code_on_the_command_line_is_an_application() {
    let server = Site::new().run(["-e", "sub { [200, [], ['from -e']] }"]);
    assert_eq!(server.text("/"), "from -e");
}

#[test]
fn dash_m_loads_a_module_from_a_folder_of_dash_i() {
    let server = Site::new().file("lib/Greeting.pm", "package Greeting; sub text { 'from a module' } 1;").run([
        "-I",
        "lib",
        "-M",
        "Greeting",
        "-e",
        "sub { [200, [], [Greeting::text()]] }",
    ]);
    assert_eq!(server.text("/"), "from a module");
}

#[test]
fn folders_of_dash_i_have_those_for_modules_in_c_below_them() {
    let config = "use Config; print qq($Config{version}\n$Config{archname})";
    let output = Finished::of(std::process::Command::new("perl").args(["-e", config])).succeeded().out;
    let (version, architecture) = output.split_once('\n').expect("two lines");
    let module = |name: &str| format!("package {name}; sub text {{ '{name} ' }} 1;");
    let site = Site::new()
        .file(&format!("local/lib/perl5/{architecture}/InC.pm"), &module("InC"))
        .file(&format!("local/lib/perl5/{version}/{architecture}/Versioned.pm"), &module("Versioned"))
        .file("local/lib/perl5/Plain.pm", &module("Plain"));
    let app = "use InC; use Versioned; use Plain; sub { [200, [], [InC::text(), Versioned::text(), Plain::text()]] }";
    let server = site.file("app.psgi", app).run(["-I", "local/lib/perl5", "app.psgi"]);
    assert_eq!(server.text("/"), "InC Versioned Plain ");
}

#[test]
fn without_an_argument_app_psgi_is_served() {
    let server = Site::new().file("app.psgi", "sub { [200, [], ['the default']] }").run([]);
    assert_eq!(server.text("/"), "the default");
}

#[test]
fn the_application_is_loaded_once_and_shared_by_the_workers() {
    let server = serve("open my $f, '>>', '@DIR@/loads'; print $f \"$$\\n\"; close $f; sub { [200, [], ['x']] }");
    for _ in 0..8 {
        server.get("/");
    }
    assert_eq!(server.site.read("loads").lines().count(), 1);
}

#[test]
fn lexicals_of_the_application_stay_for_the_life_of_a_worker() {
    let server = super::serve_with_one_worker("my $n = 0; sub { [200, [], [++$n]] }");
    assert_eq!(server.text("/") + &server.text("/") + &server.text("/"), "123");
}

#[test]
fn workers_do_not_share_their_random_numbers() {
    let server = serve(
        "my $once = rand; my $mine; sub { $mine //= rand; open my $f, '>', \"@DIR@/seen-$$\"; close $f;
         select undef, undef, undef, 0.01 until 2 == (() = glob '@DIR@/seen-*'); [200, [], [$mine]] }",
    );
    let ask = || {
        let mut connection = server.connect();
        connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        connection
    };
    let (mut one, mut other) = (ask(), ask());
    assert_ne!(one.response().text(), other.response().text());
}

#[test]
fn an_object_with_to_app_is_an_application() {
    let server = serve("package App; sub to_app { sub { [200, [], ['made']] } } package main; bless {}, 'App'");
    assert_eq!(server.text("/"), "made");
}

#[test]
fn plack_middleware_and_static_files_work_unchanged() {
    let server = serve(
        "use Plack::Builder; builder { enable 'Runtime'; enable 'Static', path => qr{^/s/}, root => '@DIR@/htdocs';
                                       mount '/m' => sub { [200, [], [$_[0]{SCRIPT_NAME}]] } }",
    );
    server.site.write("htdocs/s/a.txt", "static\n");
    let response = server.get("/m/x");
    assert!(response.header("x-runtime").is_some() && response.text() == "/m", "{response:?}");
    assert_eq!(server.text("/s/a.txt"), "static\n");
}

#[test]
fn a_program_that_perl_starts_is_the_systems_perl() {
    let server = serve("sub { [200, [], [scalar `$^X -e 'print 6*7'`]] }");
    assert_eq!(server.text("/"), "42");
}

#[test]
fn children_of_an_application_hold_no_socket_of_the_server() {
    let server = serve("sub { [200, [], [scalar `ls -l /proc/self/fd`]] }");
    let listing = server.text("/");
    assert!(!listing.contains("socket:"), "{listing}");
}
