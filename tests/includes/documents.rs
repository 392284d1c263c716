//! Pages that include files and other pages; their headers; HTTP/2.

use super::{CONF, ERROR, page};
use crate::http2::curl;
use crate::support::{Request, Site};

#[test]
fn a_page_has_its_files_variables_and_conditions() {
    let server = page(
        "<!--#set var=\"name\" value=\"part\" -->[<!--#include virtual=\"/$name.txt\" -->]\
         <!--#if expr=\"%{REQUEST_METHOD} == 'GET'\" --><!--#echo var=\"DOCUMENT_NAME\" --><!--#else -->no<!--#endif -->",
    )
    .file("htdocs/part.txt", "a part")
    .serve(CONF);
    let response = server.get("/page.shtml").is(200);
    assert_eq!(response.text(), "[a part]page.shtml");
    assert_eq!(response.header("content-type").as_deref(), Some("text/html"));
    assert_eq!((response.header("etag"), response.header("last-modified")), (None, None));
    let head = server.send(Request::new("HEAD", "/page.shtml")).is(200);
    assert_eq!((head.text().as_str(), head.header("content-length")), ("", None));
}

/// REQUEST_URI stays the client's.
#[test]
fn a_page_has_the_query_that_a_rule_has_given_it() {
    let server = page(
        "<!--#echo var=\"DOCUMENT_ARGS\" -->,<!--#echo var=\"QUERY_STRING\" -->,<!--#echo var=\"REQUEST_URI\" -->",
    )
    .serve(&format!(
        "{CONF}RewriteEngine On\nRewriteRule ^/short$ /page.shtml?from=rule [PT]\nRewriteRule ^/file$ /page.shtml?a\n"
    ));
    assert_eq!(server.text("/short?own"), "from=rule,from=rule,/short?own");
    assert_eq!(server.text("/file?own"), "a,a,/file?own");
    assert_eq!(server.text("/page.shtml?own"), "own,own,/page.shtml?own");
}

#[test]
fn a_part_of_a_page_has_the_client_that_a_proxy_names() {
    let proxy = "RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1\n";
    let server = page("<!--#include file=\"part.txt\" -->,<!--#include virtual=\"part.txt\" -->")
        .file("htdocs/part.txt", "a part")
        .serve(&format!("{CONF}{proxy}<Files part.txt>\nRequire ip 192.0.2.7\n</Files>\n"));
    let of = |client: &str| server.send(Request::get("/page.shtml").header("X-Forwarded-For", client)).text();
    assert_eq!(of("192.0.2.7"), "a part,a part");
    assert_eq!(of("192.0.2.8"), format!("{ERROR},{ERROR}"));
}

#[test]
fn path_info_that_repeats_the_name_of_a_page_does_not_change_its_folder() {
    let server = page("<!--#include file=\"part.txt\" -->,<!--#echo var=\"PATH_INFO\" -->")
        .file("htdocs/part.txt", "a part")
        .serve(&format!("{CONF}AcceptPathInfo On\n"));
    assert_eq!(server.text("/page.shtml/page.shtml"), "a part,/page.shtml");
}

#[test]
fn an_included_file_is_refused_by_a_condition_and_by_the_rules_of_its_folder() {
    let closed = "<Directory \"@DIR@/htdocs/if\">\n<If \"true\">\nRequire all denied\n</If>\n</Directory>\n\
                  <Directory \"@DIR@/htdocs/rule\">\nRewriteEngine On\nRewriteRule ^ - [F]\n</Directory>\n";
    let server = page("<!--#include file=\"if/part.txt\" -->,<!--#include file=\"rule/part.txt\" -->")
        .file("htdocs/if/part.txt", "a part")
        .file("htdocs/rule/part.txt", "a part")
        .serve(&format!("{CONF}{closed}"));
    assert_eq!(server.text("/page.shtml"), format!("{ERROR},{ERROR}"));
}

#[test]
fn a_page_takes_no_worker() {
    let server = page("<!--#include virtual=\"/part.txt\" -->").file("htdocs/part.txt", "a part").serve(CONF);
    assert_eq!(server.text("/page.shtml"), "a part");
    let status = server.status();
    let workers = status["front"]["workers"].as_array().expect("workers");
    assert!(!workers.is_empty() && workers.iter().all(|worker| worker["requests"] == 0), "{workers:?}");
}

#[test]
fn a_variable_that_a_page_sets_ends_with_its_request() {
    let server = page("<!--#echo var=\"x\" --><!--#set var=\"x\" value=\"$QUERY_STRING\" -->,<!--#echo var=\"x\" -->")
        .serve(CONF);
    let mut client = server.connect();
    for query in ["first", "second"] {
        let response = client.ask(Request::get(&format!("/page.shtml?{query}")));
        assert_eq!(response.text(), format!("(none),{query}"));
    }
}

#[test]
fn an_error_document_may_be_a_page() {
    let server = page("<!--#echo var=\"REDIRECT_STATUS\" --> <!--#echo var=\"REDIRECT_URL\" -->")
        .serve(&format!("{CONF}ErrorDocument 404 /page.shtml\n"));
    let response = server.get("/none").is(404);
    assert_eq!(response.text(), "404 /none");
}

#[test]
fn text_from_the_client_is_no_element() {
    let server = page("<!--#echo encoding=\"none\" var=\"HTTP_X_TEXT\" -->|<!--#include virtual=\"/echo.shtml\" -->")
        .file(
            "htdocs/echo.shtml",
            "<!--#set var=\"y\" value=\"$HTTP_X_TEXT\" --><!--#echo encoding=\"none\" var=\"y\" -->",
        )
        .serve(CONF);
    let text = "<!--#exec cmd='id' -->$DOCUMENT_NAME";
    let response = server.send(Request::get("/page.shtml").header("X-Text", text));
    assert_eq!(response.text(), format!("{text}|{text}"));
}

#[test]
fn a_part_that_fails_has_its_reason_in_the_log() {
    let server = page("a<!--#include virtual=\"/none\" -->b<!--#include file=\"../site.conf\" -->").serve(CONF);
    assert_eq!(server.text("/page.shtml"), format!("a{ERROR}b{ERROR}"));
    server.logged("include: /none failed with status 404");
    server.logged("../site.conf leads out of the folder");
}

#[test]
fn the_log_names_an_element_without_an_end() {
    let server = page("a<!--#echo var=\"DOCUMENT_NAME\" b").serve(CONF);
    assert_eq!(server.text("/page.shtml"), format!("a{ERROR}"));
    server.logged("/page.shtml: the element \"echo\" has no end; close it with -->");
}

#[test]
fn rules_of_access_apply_to_each_part() {
    let server = page("<!--#include virtual=\"/secret/a.txt\" -->")
        .file("htdocs/secret/a.txt", "secret")
        .serve(&format!("{CONF}<Location /secret>\nRequire all denied\n</Location>\n"));
    assert_eq!(server.text("/page.shtml"), ERROR);
}

#[test]
fn a_large_part_is_streamed_whole() {
    let site = page("<!--#include virtual=\"/large.txt\" -->!");
    let large = "0123456789abcdef".repeat(1 << 18);
    site.write("htdocs/large.txt", &large);
    let server = site.serve(CONF);
    let text = server.text("/page.shtml");
    assert!(text.len() == large.len() + 1 && text.starts_with(&large) && text.ends_with('!'), "{}", text.len());
}

#[test]
fn a_filter_that_options_forbid_is_named_in_the_log() {
    let server =
        Site::new().file("htdocs/page.shtml", "<!--#echo var=\"x\" -->").serve("AddOutputFilter INCLUDES .shtml\n");
    assert_eq!(server.text("/page.shtml"), "<!--#echo var=\"x\" -->");
    server.logged("the filter INCLUDES is not applied; write Options +Includes");
}

#[test]
fn a_page_is_the_same_over_http_2() {
    let server = page("[<!--#include virtual=\"/part.txt\" --><!--#echo var=\"SERVER_PROTOCOL\" -->]")
        .file("htdocs/part.txt", "part ")
        .serve(&format!("{CONF}Protocols h2c http/1.1\n"));
    let output = curl(&server, &["--http2-prior-knowledge", "http://localhost:@PORT@/page.shtml"]).succeeded().out;
    assert_eq!(output, "[part HTTP/2.0]");
    assert_eq!(server.text("/page.shtml"), "[part HTTP/1.1]");
}
