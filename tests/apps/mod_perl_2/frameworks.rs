//! Frameworks: Plack::Handler::Apache2 with Plack's own tests of servers, and a Catalyst application.

use std::process::Command;

use super::{OURS, no_answer_is_wrong_over_reloads};
use crate::support::{Finished, Request, Server, Site};

const SUITE: &str = "use Plack::Test::Suite; Plack::Test::Suite->test_app_handler;\n";

/// Plack's test applications at `place`.
#[track_caller]
fn serve_suite(place: &str) -> Server {
    serve_application(place, SUITE)
}

#[track_caller]
fn serve_application(place: &str, application: &str) -> Server {
    let (open, close) = place.split_once(' ').expect("a section and its path");
    let conf = format!(
        "PerlModule Plack::Handler::Apache2\n<Perl>\nPlack::Handler::Apache2->preload('@DIR@/app.psgi');\n</Perl>\n<{open} {close}>\n\
         SetHandler perl-script\nPerlResponseHandler Plack::Handler::Apache2\nPerlSetVar psgi_app @DIR@/app.psgi\n</{open}>"
    );
    Site::new().file("app.psgi", application).serve(&conf)
}

/// Runs each of Plack's own server tests against this server.
#[track_caller]
fn passes(server: &Server, script_name: &str) {
    let mut prove = Command::new("perl");
    prove.arg(format!("{OURS}/plack-suite.t")).args([&server.site.port.to_string(), script_name]);
    let output = Finished::of(&mut prove);
    let ok = output.out.lines().filter(|line| line.starts_with("ok ")).count();
    assert!(output.code == 0 && ok >= 100, "{ok} ok: {output:?}");
}

#[test]
fn placks_own_tests_of_a_server_pass_at_the_root_of_a_site() {
    passes(&serve_suite("Location /"), "");
}

#[test]
fn placks_own_tests_of_a_server_pass_in_a_place_and_in_one_with_a_pattern() {
    passes(&serve_suite("Location /foo/bar/baz"), "/foo/bar/baz");
    passes(&serve_suite("LocationMatch /foo/bar/(baz)"), "/foo/bar/baz");
}

const APPLICATION: &str = "my $n = 0; sub { my $env = shift; [ 200, [ 'Content-Type' => 'text/plain', 'X-Script-Name' => $env->{SCRIPT_NAME}, \
    'X-Path-Info' => $env->{PATH_INFO} ], [ 'body ', do { local $/; my $b = ''; $env->{'psgi.input'}->read($b, 8192); $b } ] ] }\n";

#[test]
fn an_application_in_a_place_answers_under_load_and_over_reloads() {
    let server = serve_application("Location /shop", APPLICATION);
    let posted = server.post("/shop/saw/7", "a=b").is(200);
    assert_eq!(
        (posted.header("x-script-name").as_deref(), posted.header("x-path-info").as_deref()),
        (Some("/shop"), Some("/saw/7"))
    );
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (Request::post("/shop/saw/7", "a=b"), |r| r.status == 200 && r.text() == "body a=b"),
            (Request::get("/shop/oak"), |r| r.status == 200 && r.header("x-path-info").as_deref() == Some("/oak")),
        ],
    );
}

#[test]
fn files_of_a_folder_are_applications_under_placks_registry() {
    let server = Site::new()
        .file("htdocs/psgi-bin/app.psgi", APPLICATION)
        .file("htdocs/psgi-bin/deep/app.psgi", APPLICATION)
        .file("htdocs/psgi-bin/dead.psgi", "die 'What happened?';\n")
        .serve(
            // The semicolon is in the module's manual.
            "PerlModule Plack::Handler::Apache2::Registry;\n<Location /psgi-bin>\nSetHandler modperl\n\
             PerlResponseHandler Plack::Handler::Apache2::Registry\n</Location>",
        );
    for (target, script_name, path_info) in [
        ("/psgi-bin/app.psgi", "/psgi-bin/app.psgi", ""),
        ("/psgi-bin/deep/app.psgi/deeply", "/psgi-bin/deep/app.psgi", "/deeply"),
    ] {
        let response = server.get(target).is(200);
        assert_eq!(response.header("x-script-name").as_deref(), Some(script_name), "{response:?}");
        assert_eq!(response.header("x-path-info").unwrap_or_default(), path_info, "{response:?}");
    }
    server.get("/psgi-bin/none.psgi").is(404);
    server.get("/psgi-bin/dead.psgi").is(500);
    no_answer_is_wrong_over_reloads(
        &server,
        &[(Request::post("/psgi-bin/app.psgi", "a=b"), |r| r.status == 200 && r.text() == "body a=b")],
    );
}

/// The application that Catalyst's generator makes, with an additional action that takes arguments.
#[track_caller]
fn serve_catalyst() -> Server {
    let site = Site::new();
    Finished::of(Command::new("catalyst.pl").arg("Guild").current_dir(site.folder())).succeeded();
    let controller = "package Guild::Controller::Tools;\nuse Moose;\nBEGIN { extends 'Catalyst::Controller' }\n\
        sub show : Local Args(1) { my ($self, $c, $name) = @_; $c->res->content_type('text/plain');\n\
        $c->res->body(join '|', $name, map { $_ // '-' } $c->req->param('of'), $c->req->base, $c->req->user // '-') }\n\
        sub away : Local { my ($self, $c) = @_; $c->res->redirect($c->uri_for('/tools/show', 'x')) }\n\
        sub broken : Local { die \"broken on purpose\\n\" }\n1;\n";
    site.write("Guild/lib/Guild/Controller/Tools.pm", controller);
    site.serve(
        r#"
        PerlSwitches -I@DIR@/Guild/lib
        PerlModule Guild
        <Location /some/path>
            SetHandler modperl
            PerlResponseHandler Guild
        </Location>
        "#,
    )
}

#[test]
fn a_catalyst_application_is_a_handler() {
    let server = serve_catalyst();
    for _ in 0..2 {
        assert!(server.text("/some/path/").contains("Welcome to the"));
        let body = server.text("/some/path/tools/show/saw?of=%C3%A9");
        assert!(body.starts_with("saw|é|http://localhost") && body.ends_with("/some/path/|-"), "{body}");
        assert!(server.post("/some/path/tools/show/saw", "of=oak").is(200).text().starts_with("saw|oak|"));
        let away = server.get("/some/path/tools/away").is(302).header("location").unwrap_or_default();
        assert!(away.ends_with("/some/path/tools/show/x"), "{away}");
        server.get("/some/path/none").is(404);
        server.get("/some/path/tools/broken").is(500);
    }
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (Request::get("/some/path/"), |r| r.status == 200 && r.text().contains("Welcome to the")),
            (Request::post("/some/path/tools/show/saw", "of=oak"), |r| r.text().starts_with("saw|oak|")),
        ],
    );
}
