//! The request as a script sees it: `%ENV`, STDIN, CGI.pm.

use super::{URL, serve, serve_text};
use crate::support::Request;

#[test]
fn the_environment_is_cgi_1_1_and_mod_perl() {
    let server = serve_text(
        "print map { my $v = $ENV{$_}; \"$_=\" . (defined $v ? $v : '(none)') . \"\\n\" } qw(GATEWAY_INTERFACE MOD_PERL REQUEST_METHOD \
         QUERY_STRING SCRIPT_NAME PATH_INFO SCRIPT_FILENAME REQUEST_URI SERVER_NAME SERVER_PORT SERVER_PROTOCOL REMOTE_ADDR \
         DOCUMENT_ROOT HTTP_X_TEST);",
    );
    let value = server.send(Request::get("/perl/test.pl/extra/path?a=b").header("X-Test", "t")).is(200).text();
    let expected = server.site.filled(
        "GATEWAY_INTERFACE=CGI-Perl/1.1\nMOD_PERL=mod_perl/1.31\nREQUEST_METHOD=GET\nQUERY_STRING=a=b\n\
         SCRIPT_NAME=/perl/test.pl\nPATH_INFO=/extra/path\nSCRIPT_FILENAME=@DIR@/scripts/test.pl\n\
         REQUEST_URI=/perl/test.pl/extra/path?a=b\nSERVER_NAME=localhost\nSERVER_PORT=@PORT@\nSERVER_PROTOCOL=HTTP/1.1\n\
         REMOTE_ADDR=127.0.0.1\nDOCUMENT_ROOT=@DIR@/htdocs\nHTTP_X_TEST=t\n",
    );
    assert_eq!(value, expected);
}

#[test]
fn the_environment_is_built_anew_for_each_request() {
    let server = serve_text(
        "print join ' ', map { defined $ENV{$_} ? $ENV{$_} : '-' } qw(QUERY_STRING MINE HTTP_X_A); $ENV{MINE} = 1; delete $ENV{PATH};",
    );
    assert_eq!(server.send(Request::get("/perl/test.pl?1").header("X-A", "a")).text(), "1 - a");
    assert_eq!(server.text(URL), " - -");
    let path = serve_text("print defined $ENV{PATH} ? 'path' : 'none'; delete $ENV{PATH};");
    assert_eq!(path.text(URL) + &path.text(URL), "pathpath");
}

#[test]
fn programs_that_a_script_starts_see_its_environment() {
    let server =
        serve_text("$ENV{MINE} = 'set here'; $ENV{PATH} = '/usr/bin:/bin'; print `echo \"\\$QUERY_STRING \\$MINE\"`;");
    assert_eq!(server.text("/perl/test.pl?q"), "q set here\n");
}

#[test]
fn set_env_and_set_var_of_the_configuration_are_there() {
    let server =
        super::site(&format!("{}print $ENV{{COLOUR}}, ' ', Apache->request->dir_config('Size');", super::TEXT)).serve(
            &format!("{}\n<Location /perl>\nPerlSetEnv COLOUR green\nPerlSetVar Size large\n</Location>", super::CONF),
        );
    assert_eq!(server.text(URL), "green large");
}

#[test]
fn perl_setup_env_off_leaves_only_what_the_documents_list() {
    let server = super::site(&format!("{}print join ' ', sort keys %ENV;", super::TEXT))
        .serve(&format!("{}\n<Location /perl>\nPerlSetupEnv Off\nPerlSetEnv COLOUR green\n</Location>", super::CONF));
    assert_eq!(server.text(URL), "COLOUR GATEWAY_INTERFACE MOD_PERL PATH");
}

#[test]
fn a_post_is_read_from_stdin() {
    let server = serve_text("read STDIN, my $b, $ENV{CONTENT_LENGTH}; print \"$ENV{CONTENT_TYPE}|$b\";");
    assert_eq!(server.post(URL, "a=1&b=2").text(), "application/x-www-form-urlencoded|a=1&b=2");
    assert_eq!(server.post(URL, "c=3").text(), "application/x-www-form-urlencoded|c=3");
}

#[test]
fn stdin_is_at_its_end_for_a_get() {
    let server = serve_text("my @l = <STDIN>; print scalar(@l), eof(STDIN) ? ' end' : ' more';");
    server.post(URL, "left over");
    assert_eq!(server.text(URL), "0 end");
}

#[test]
fn a_program_that_a_script_starts_reads_the_body_too() {
    let server = serve_text("$| = 1; $ENV{PATH} = '/usr/bin:/bin'; system 'cat';");
    assert_eq!(server.post(URL, "through cat").text(), "through cat");
}

#[test]
fn cgi_pm_takes_each_requests_own_parameters() {
    let server = serve(
        "use CGI; my $q = CGI->new; print $q->header('text/plain'), join ',', map { \"$_=\" . join '+', $q->multi_param($_) } sort $q->param;",
    );
    assert_eq!(server.text("/perl/test.pl?a=1&a=2&b=x%20y"), "a=1+2,b=x y");
    assert_eq!(server.post(URL, "c=3").text(), "c=3");
    assert_eq!(server.text("/perl/test.pl?d=4"), "d=4");
    assert_eq!(server.text(URL), "");
}

#[test]
fn cgi_pm_takes_an_upload() {
    let server = serve(
        "use CGI; my $q = CGI->new; my $f = $q->upload('file'); local $/; my $d = <$f>; print $q->header('text/plain'), $q->param('file'), ' ', length $d;",
    );
    let body = format!(
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n{}\r\n--B--\r\n",
        "x".repeat(100_000)
    );
    let request = Request::new("POST", URL).header("Content-Type", "multipart/form-data; boundary=B").body(body);
    assert_eq!(server.send(request).is(200).text(), "a.bin 100000");
}

#[test]
fn shift_gives_the_request_object() {
    let server = serve("my $r = shift; $r->content_type('text/plain'); $r->send_http_header; $r->print($r->uri);");
    assert_eq!(server.text(URL), "/perl/test.pl");
}
