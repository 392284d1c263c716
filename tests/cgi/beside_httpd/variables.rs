//! The environment of programs: aliases, and requests that lead to others.

use super::{ENV, has, lacks};
use crate::cgi::conf;
use crate::support::{Request, Site};

#[test]
fn a_program_finds_the_alias_that_its_path_has_passed() {
    let site = Site::new().script("scripts/test", ENV).script("htdocs/own", ENV);
    let server = site.serve(&format!(
        "{}ScriptAlias /one @DIR@/scripts/test\nScriptAliasMatch ^/match/(.*) @DIR@/scripts/$1\n\
         RewriteEngine On\nRewriteRule ^/rewritten @DIR@/scripts/test\n\
         <Location /rewritten>\nSetHandler cgi-script\nOptions +ExecCGI\n</Location>\n\
         <Location /own>\nSetHandler cgi-script\nOptions +ExecCGI\n</Location>\n",
        conf("")
    ));
    for (target, prefix, root) in [
        ("/cgi/test", "/cgi/", "@DIR@/scripts/"),
        ("/cgi/test/more", "/cgi/", "@DIR@/scripts/"),
        ("/one/more", "/one", "@DIR@/scripts/test"),
        ("/match/test", "", "@DIR@/htdocs"),
        ("/rewritten", "", "@DIR@/htdocs"),
        ("/own", "", "@DIR@/htdocs"),
    ] {
        has(&server, target, &format!("CONTEXT_PREFIX={prefix}"));
        has(&server, target, &server.site.filled(&format!("CONTEXT_DOCUMENT_ROOT={root}")));
    }
}

#[test]
fn scripts_in_the_worker_find_the_alias_too() {
    let text =
        "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{CONTEXT_PREFIX} $ENV{CONTEXT_DOCUMENT_ROOT}\";";
    for generation in [1, 2] {
        for mode in ["fork", "persistent"] {
            let server = Site::new()
                .script("scripts/test", text)
                .serve(&format!("PerlGeneration {generation}\n{}", conf(&format!("CgiMode {mode}"))));
            assert_eq!(server.text("/cgi/test"), server.site.filled("/cgi/ @DIR@/scripts/"), "{mode} {generation}");
        }
    }
}

#[test]
fn a_cgi_program_after_an_internal_redirect_gets_redirect_variables_and_no_mod_perl() {
    for generation in [1, 2] {
        let (handler, load, lead) = match generation {
            1 => ("PerlHandler", "use Apache ()", "$r->internal_redirect('/cgi/env')"),
            _ => (
                "PerlResponseHandler",
                "use Apache2::RequestRec (); use Apache2::SubRequest ()",
                "$r->internal_redirect('/cgi/env')",
            ),
        };
        let server = Site::new()
            .script("scripts/env", ENV)
            .script("scripts/broken", "#!/bin/sh\nexit 3\n")
            .script("scripts/on", "#!/bin/sh\nprintf 'Location: /cgi/env\\n\\n'\n")
            .file(
                "lib/My.pm",
                &format!("package My; {load}; sub handler {{ my $r = shift; return 404 if $r->args; {lead}; 0 }} 1;"),
            )
            .serve(&format!(
                "PerlGeneration {generation}\nPerlLib lib\nPerlModule My\nErrorDocument 404 /cgi/env\nErrorDocument 500 /cgi/env\n{}\
                 <Location /my>\nSetHandler perl-script\n{handler} My\n</Location>\n",
                conf("")
            ));
        for target in ["/my", "/my?404", "/cgi/broken", "/cgi/on", "/cgi/none"] {
            lacks(&server, target, "MOD_PERL");
            has(&server, target, &format!("REDIRECT_URL={}", target.split('?').next().unwrap_or_default()));
        }
        lacks(&server, "/cgi/broken", "CGI-Perl");
        for target in ["/my?404", "/cgi/none", "/cgi/broken", "/none"] {
            has(&server, target, "REDIRECT_REQUEST_METHOD=GET");
            let posted = server.post(target, "a=b").text();
            assert!(posted.lines().any(|line| line == "REDIRECT_REQUEST_METHOD=POST"), "{target}: {posted}");
            assert!(posted.lines().any(|line| line == "REQUEST_METHOD=GET"), "{target}: {posted}");
        }
        has(&server, "/cgi/broken", "REDIRECT_SCRIPT_NAME=/cgi/broken");
        has(&server, "/cgi/broken", "REDIRECT_GATEWAY_INTERFACE=CGI/1.1");
        has(&server, "/cgi/broken", "REDIRECT_CONTEXT_PREFIX=/cgi/");
        let text = server.get("/cgi/broken").is(500).text();
        assert!(
            text.lines().any(|line| line.starts_with("REDIRECT_ERROR_NOTES=") && line.ends_with("broken")),
            "{text}"
        );
    }
}

#[test]
fn an_error_document_knows_the_method_of_a_request_whose_handler_has_no_environment() {
    let server = Site::new()
        .script("scripts/env", ENV)
        .file("lib/My.pm", "package My; use Apache2::RequestRec (); sub handler { 404 } 1;")
        .serve(&format!(
            "PerlGeneration 2\nPerlLib lib\nPerlModule My\nErrorDocument 404 /cgi/env\n{}\
             <Location /my>\nSetHandler modperl\nPerlResponseHandler My\n</Location>\n",
            conf("")
        ));
    has(&server, "/my", "REDIRECT_REQUEST_METHOD=GET");
    for method in ["POST", "DELETE"] {
        let text = server.send(Request::new(method, "/my")).is(404).text();
        assert!(text.lines().any(|line| line == format!("REDIRECT_REQUEST_METHOD={method}")), "{text}");
    }
}
