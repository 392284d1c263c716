//! mod_actions: mod/mod_actions.html

use crate::support::{Request, serve_echo_script as serve};

/// Directive Action: "The URL and file path of the requested document is sent to the script using the standard CGI
/// PATH_INFO and PATH_TRANSLATED environment variables. The handler that is used for the particular request is passed
/// using the REDIRECT_HANDLER variable."
#[test]
fn a_script_answers_for_files_of_a_handlers_name() {
    let server = serve("AddHandler own-handler .own\nAction own-handler /cgi-bin/tell.cgi");
    let expected = server.site.filled(
        "REQUEST_METHOD=GET\nSCRIPT_NAME=/cgi-bin/tell.cgi\nPATH_INFO=/page.own\nPATH_TRANSLATED=@DIR@/htdocs/page.own\n\
         QUERY_STRING=x=1\nREQUEST_URI=/page.own?x=1\nREDIRECT_HANDLER=own-handler\nREDIRECT_STATUS=200\n\
         REDIRECT_URL=/page.own\nREDIRECT_QUERY_STRING=x=1\nbody=\n",
    );
    assert_eq!(server.text("/page.own?x=1"), expected);
}

/// Directive Action: "whenever a file of the action-type is requested"; a media type, or the name of a handler.
#[test]
fn a_script_answers_for_files_of_a_type() {
    let server = serve("AddType text/x-own .own\nAction text/x-own /cgi-bin/tell.cgi");
    let body = server.text("/page.own/more");
    assert!(body.contains("PATH_INFO=/page.own/more\n") && body.contains("REDIRECT_HANDLER=text/x-own\n"), "{body}");
    assert_eq!(server.text("/plain.txt"), "plain\n");
    server.get("/none.own").is(404);
}

/// Directive Action: "the virtual modifier […] turns off the check whether the requested file really exists".
#[test]
fn a_virtual_action_needs_no_file() {
    let server = serve(
        "<Location /news>\nSetHandler news\nAction news /cgi-bin/tell.cgi virtual\n</Location>\n\
         <Location /old>\nSetHandler old\nAction old /cgi-bin/tell.cgi\n</Location>",
    );
    assert!(server.text("/news/today").contains("PATH_INFO=/news/today\n"));
    server.get("/old/none").is(404);
}

/// Directive Script: "a particular request method", "called for the PATH_INFO", GET only "if there is query
/// information present", "does not affect requests which would otherwise be handled"; the body goes along.
#[test]
fn a_script_answers_for_a_method() {
    let server = serve("Script PUT /cgi-bin/tell.cgi\nScript GET /cgi-bin/tell.cgi");
    let body = server.send(Request::new("PUT", "/new.txt").body("hello")).is(200).text();
    assert!(body.contains("PATH_INFO=/new.txt\n") && body.ends_with("body=hello\n"), "{body}");
    assert!(body.contains("REQUEST_METHOD=PUT\n"), "{body}");
    assert!(server.text("/plain.txt?q").contains("QUERY_STRING=q\n"));
    assert_eq!(server.text("/plain.txt"), "plain\n");
    server.send(Request::new("DELETE", "/plain.txt")).is(405);
}

/// Actions and scripts work the same where Perl handlers run in other phases.
#[test]
fn scripts_answer_where_perl_phases_run_too() {
    let server = serve(
        "PerlLib lib\n<Perl>\nsub My::log { 0 }\n</Perl>\nPerlLogHandler My::log\nAddHandler own-handler .own\n\
         Action own-handler /cgi-bin/tell.cgi\nAction text/css /cgi-bin/tell.cgi virtual\nScript PUT /cgi-bin/tell.cgi",
    );
    let body = server.text("/page.own?x=1");
    for line in ["PATH_INFO=/page.own\n", "REDIRECT_HANDLER=own-handler\n", "QUERY_STRING=x=1\n"] {
        assert!(body.contains(line), "{line}{body}");
    }
    let body = server.send(Request::new("PUT", "/new.txt").body("hello")).is(200).text();
    assert!(body.contains("PATH_INFO=/new.txt\n") && body.ends_with("body=hello\n"), "{body}");
    assert!(server.text("/none.css").contains("REDIRECT_HANDLER=text/css\n"));
    assert_eq!(server.text("/plain.txt"), "plain\n");
}

/// An action whose script matches the same action is a loop, and ends with a 500.
#[test]
fn an_action_that_redirects_to_itself_is_answered_with_an_error() {
    let server = serve("Action text/html /page.html");
    server.get("/page.html").is(500);
    assert_eq!(server.text("/plain.txt"), "plain\n");
}

/// Access rules of a place apply before its action or script runs.
#[test]
fn a_refused_client_reaches_no_script() {
    let server = serve(
        "<Location /news>\nSetHandler news\nAction news /cgi-bin/tell.cgi virtual\nDeny from all\n</Location>\n\
         Script PUT /cgi-bin/tell.cgi\n<Location /shut>\nDeny from all\n</Location>",
    );
    server.get("/news/today").is(403);
    server.send(Request::new("PUT", "/shut/x").body("hello")).is(403);
}
