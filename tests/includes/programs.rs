//! Programs as parts of pages, and pages that programs print.

use super::{CONF, ERROR, page};
use crate::support::{Request, Site};

const PROGRAM: &str =
    "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s %s %s' \"$REQUEST_METHOD\" \"$QUERY_STRING\" \"$x\"\n";

#[test]
fn a_program_is_a_part_with_the_variables_of_the_page() {
    let server = page(
        "<!--#set var=\"x\" value=\"mine\" -->[<!--#include virtual=\"/cgi/a?q=1\" -->]<!--#exec cgi=\"/cgi/a\" -->",
    )
    .script("scripts/a", PROGRAM)
    .serve(&format!("{CONF}ScriptAlias /cgi/ @DIR@/scripts/\n"));
    assert_eq!(server.text("/page.shtml?outer"), "[GET q=1 mine]GET outer mine");
}

#[test]
fn exec_computes_the_times_and_the_owner_for_a_program_and_include_does_not() {
    let program = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n(%s%s)' \"${DATE_GMT:+now}\" \"$USER_NAME\"\n";
    let server = page(
        "<!--#include virtual=\"/cgi/a\" --><!--#exec cgi=\"/cgi/a\" -->\
         <!--#include virtual=\"/cgi/a\" -->",
    )
    .script("scripts/a", program)
    .serve(&format!("{CONF}ScriptAlias /cgi/ @DIR@/scripts/\n"));
    let owner = nix::unistd::User::from_uid(nix::unistd::getuid()).expect("users").expect("a user").name;
    assert_eq!(server.text("/page.shtml"), format!("()(now{owner})(now{owner})"));
}

#[test]
fn a_command_runs_in_the_folder_of_the_document() {
    let server = page("<!--#set var=\"x\" value=\"a b\" --><!--#exec cmd=\"cat part.txt; echo \\$x\" -->.")
        .file("htdocs/part.txt", "part ")
        .serve(CONF);
    assert_eq!(server.text("/page.shtml"), "part a b\n.");
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let server = page("<!--#exec cmd=\"sleep 1000\" -->after").serve(&format!("{CONF}RequestTimeout 1\n"));
    assert_eq!(server.text("/page.shtml"), format!("{ERROR}after"));
    server.logged("RequestTimeout");
}

#[test]
fn includes_noexec_permits_text_and_no_program() {
    let server =
        page("<!--#include virtual=\"/a.txt\" -->|<!--#exec cmd=\"echo ran\" -->|<!--#exec cgi=\"/cgi/a\" -->")
            .file("htdocs/a.txt", "text")
            .script("scripts/a", PROGRAM)
            .serve("AddOutputFilter INCLUDES .shtml\nOptions +IncludesNOEXEC\nScriptAlias /cgi/ @DIR@/scripts/\n");
    assert_eq!(server.text("/page.shtml"), format!("text|{ERROR}|{ERROR}"));
    server.logged("IncludesNOEXEC");
}

#[test]
fn what_a_program_prints_may_be_a_page() {
    let program =
        "#!/bin/sh\nprintf 'Content-Type: text/html\\nContent-Length: 99\\n\\n<!--#echo var=\"SCRIPT_NAME\" -->.'\n";
    let server = Site::new().script("scripts/a", program).serve(
        "Options +Includes\nScriptAlias /cgi/ @DIR@/scripts/\n<Location /cgi>\nSetOutputFilter INCLUDES\n</Location>\n",
    );
    assert_eq!(server.get("/cgi/a").is(200).text(), "/cgi/a.");
}

#[test]
fn what_a_perl_handler_prints_may_be_a_page() {
    for generation in [1, 2] {
        let (handler, load, head) = match generation {
            1 => ("PerlHandler", "use Apache ()", "$r->send_http_header('text/html')"),
            _ => (
                "PerlResponseHandler",
                "use Apache2::RequestRec (); use Apache2::RequestIO ()",
                "$r->content_type('text/html')",
            ),
        };
        let module = format!(
            "package My; {load}; sub handler {{ my $r = shift; {head}; \
             $r->print('[<!--#include virtual=\"/part.txt\" -->]'); 0 }} 1;"
        );
        let server = Site::new().file("lib/My.pm", &module).file("htdocs/part.txt", "part").serve(&format!(
            "PerlGeneration {generation}\nPerlLib lib\nPerlModule My\nOptions +Includes\n\
             <Location /my>\nSetHandler perl-script\n{handler} My\nSetOutputFilter INCLUDES\n</Location>\n"
        ));
        assert_eq!(server.get("/my").is(200).text(), "[part]", "{generation}");
    }
}

#[test]
fn a_page_may_call_perl_subs() {
    let module = "package My; use Apache (); \
        sub hello { my ($r, @names) = @_; $r->print('hello ', join('+', @names), ' ', $r->subprocess_env('x')) } \
        sub method { my ($class, $r, $name) = @_; $r->print(\"$class $name\") } \
        sub dies { die \"no\\n\" } 1;";
    let server = page(
        "<!--#set var=\"x\" value=\"of the page\" --><!--#perl sub=\"My::hello\" arg=\"a\" arg=\"b\" -->|\
         <!--#perl sub=\"My->method\" arg=\"c\" -->|<!--#perl sub=\"My::dies\" -->|<!--#perl sub=\"Other::none\" -->|\
         <!--#perl sub=\"Apache::Include\" arg=\"/part.txt\" -->",
    )
    .file("lib/My.pm", module)
    .file("htdocs/part.txt", "part")
    .serve(&format!("{CONF}PerlLib lib\nPerlModule My Apache::Include\n"));
    let text = server.text("/page.shtml");
    assert_eq!(text, format!("hello a+b of the page|My c|{ERROR}|{ERROR}|part"));
    server.logged("there is no sub Other::none");
}

#[test]
fn a_post_is_kept_for_the_parts_if_the_configuration_says_so() {
    let program = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s ' \"$REQUEST_METHOD\"\ncat\n";
    let site = page("<!--#include virtual=\"/cgi/a\" -->").script("scripts/a", program);
    let server = site.serve(&format!(
        "{CONF}ScriptAlias /cgi/ @DIR@/scripts/\n<Location /page.shtml>\nKeptBodySize 10\n</Location>\n"
    ));
    assert_eq!(server.post("/page.shtml", "a=1").is(200).text(), "POST a=1");
    server.post("/page.shtml", "a=1234567890").is(413);
    assert_eq!(server.send(Request::get("/page.shtml")).text(), "GET ");
}
