//! `$env`, `%ENV` and `psgi.errors`.

use super::{serve, serve_with_one_worker};
use crate::support::{Request, Site};

/// An application that prints the keys named in the query, one a line.
const PRINTS: &str = r#"sub { my $e = shift; my @k = split /,/, $e->{QUERY_STRING};
    [200, [], [map { my $v = $e->{$_}; "$_=" . (defined $v ? ref $v ? join('.', @$v) : $v : '(undef)') . "\n" } @k]] }"#;

#[test]
fn the_environment_has_the_psgi_server_flags() {
    let server = serve(PRINTS);
    let keys = [
        ("psgi.version", "1.1"),
        ("psgi.url_scheme", "http"),
        ("psgi.multithread", ""),
        ("psgi.multiprocess", "1"),
        ("psgi.run_once", ""),
        ("psgi.nonblocking", ""),
        ("psgi.streaming", "1"),
        ("psgix.harakiri", "1"),
        ("psgix.cleanup", "1"),
        ("SERVER_PROTOCOL", "HTTP/1.1"),
        ("REMOTE_ADDR", "127.0.0.1"),
        ("SCRIPT_NAME", ""),
        ("PATH_INFO", "/"),
        ("REQUEST_METHOD", "GET"),
    ];
    let expected: String = keys.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    let query = keys.map(|(key, _)| key).join(",");
    assert_eq!(server.text(&format!("/?{query}")), expected);
}

#[test]
fn the_path_is_decoded_once_and_the_request_uri_is_as_sent() {
    let server = serve("sub { my $e = shift; [200, [], [join '|', @$e{qw(PATH_INFO REQUEST_URI QUERY_STRING)}]] }");
    assert_eq!(server.text("/a%20b%252fc?q=%20"), "/a b%2fc|/a%20b%252fc?q=%20|q=%20");
}

#[test]
fn request_headers_have_cgi_names_and_repeated_ones_are_joined() {
    let server = serve(PRINTS);
    let request =
        Request::post("/?HTTP_X_ONE,HTTP_X_MANY,CONTENT_TYPE,HTTP_CONTENT_TYPE,CONTENT_LENGTH,HTTP_HOST", "abc")
            .header("X-One", "1")
            .header("X-Many", "a")
            .header("X-Many", "b");
    let expected = "HTTP_X_ONE=1\nHTTP_X_MANY=a, b\nCONTENT_TYPE=application/x-www-form-urlencoded\n\
                    HTTP_CONTENT_TYPE=(undef)\nCONTENT_LENGTH=3\nHTTP_HOST=localhost\n";
    assert_eq!(server.send(request).text(), expected);
}

#[test]
fn a_header_with_an_underscore_cannot_pass_for_one_with_a_hyphen() {
    let server = serve(PRINTS);
    let value = server.send(Request::get("/?HTTP_X_USER").header("X_User", "forged")).text();
    assert_eq!(value, "HTTP_X_USER=(undef)\n");
}

#[test]
fn an_application_under_a_location_gets_its_mount_as_script_name() {
    let server = Site::new()
        .file("app.psgi", "sub { my $e = shift; [200, [], [\"$e->{SCRIPT_NAME}|$e->{PATH_INFO}\"]] }")
        .serve("<Location /app>\nSetHandler psgi\nPsgiApp app.psgi\n</Location>");
    assert_eq!(server.text("/app/x/y"), "/app|/x/y");
    assert_eq!(server.text("/app"), "/app|");
    server.get("/application").is(404);
}

#[test]
fn values_added_to_the_environment_are_gone_at_the_next_request() {
    let server = serve_with_one_worker("sub { my $e = shift; [200, [], [$e->{mine}++ ? 'old' : 'new']] }");
    assert_eq!(server.text("/") + &server.text("/"), "newnew");
}

#[test]
fn changes_of_perls_environment_are_gone_at_the_next_request() {
    let server = serve_with_one_worker(
        "$ENV{KEPT} = 'kept'; sub { \
             my $before = join ' ', map { $ENV{$_} // '-' } qw(KEPT ADDED); \
             $ENV{ADDED} = 'added'; $ENV{KEPT} = 'lost'; delete $ENV{PATH}; \
             [200, [], [\"$before | \", `/usr/bin/env | /usr/bin/grep -E '^(ADDED|KEPT|PATH)=' | /usr/bin/sort`]] }",
    );
    for _ in 0..2 {
        assert_eq!(server.text("/"), "kept - | ADDED=added\nKEPT=lost\n");
    }
}

#[test]
fn a_localized_env_is_restored_after_the_request() {
    let server = serve_with_one_worker(
        "sub { my $e = shift; { local %ENV = (ONLY => 1); $e->{inside} = join ' ', keys %ENV } \
             [200, [], [\"$e->{inside} \", exists $ENV{PATH} ? 'whole' : 'lost']] }",
    );
    assert_eq!(server.text("/") + " " + &server.text("/"), "ONLY whole ONLY whole");
}

#[test]
fn folders_that_an_application_adds_to_inc_when_it_is_first_asked_stay() {
    let app = "my $asked; sub { if (!$asked++) { require lib; lib->import('@DIR@/late') } require One if $_[0]{QUERY_STRING}; \
               [200, [], [scalar grep { $_ eq '@DIR@/late' } @INC]] }";
    let site = Site::new().file("app.psgi", app).file("late/One.pm", "1;");
    let server = site.run_with_one_worker(["app.psgi"]);
    assert_eq!(server.text("/") + &server.text("/?load"), "11");
    assert!(!server.log().contains("@INC"), "{}", server.log());
}

#[test]
fn a_name_that_an_application_gives_its_process_is_gone_at_the_next_request() {
    let server = serve_with_one_worker(
        "sub { open my $f, '<', '/proc/self/comm'; my $found = \"$0 \" . <$f>; $0 = 'soiled'; [200, [], [$found]] }",
    );
    let first = server.text("/");
    assert!(first.ends_with(" cameleer: worke\n"), "{first}");
    assert_eq!(server.text("/"), first);
}

#[test]
fn plack_env_is_deployment_by_default() {
    let app = "my $at_load = $ENV{PLACK_ENV}; sub { [200, [], [\"$at_load $ENV{PLACK_ENV} \", length $ENV{PLACK_SERVER} ? 1 : 0]] }";
    assert_eq!(serve(app).text("/"), "deployment deployment 1");
    let development = Site::new().file("app.psgi", app).run(["-E", "development", "app.psgi"]);
    assert_eq!(development.text("/"), "development development 1");
}

#[test]
fn a_plain_psgi_site_does_not_look_like_mod_perl() {
    let server = serve("sub { [200, [], [exists $ENV{MOD_PERL} ? 'mod_perl' : 'plain']] }");
    assert_eq!(server.text("/"), "plain");
}

#[test]
fn psgi_errors_are_logged_with_the_worker() {
    let server = serve("sub { $_[0]{'psgi.errors'}->print(\"a note\\n\"); warn \"a warning\\n\"; [200, [], []] }");
    server.get("/");
    assert!(server.logged("a note").contains("worker="), "{}", server.log());
    assert!(server.logged("a warning").contains("worker="), "{}", server.log());
}
