//! The cost of a page is bounded: recursion, numbers, lengths. The limits are in docs/operating/includes.md.

use super::{CONF, ERROR, page};
use crate::support::Site;

#[test]
fn a_page_that_includes_itself_ends_with_one_error() {
    let server = page("x<!--#include virtual=\"/page.shtml\" -->").serve(CONF);
    assert_eq!(server.text("/page.shtml"), format!("{}{ERROR}", "x".repeat(11)));
    server.logged("include each other more than 10 times");
}

#[test]
fn a_page_that_includes_itself_twice_ends_too() {
    let server = page("x<!--#include virtual=\"/page.shtml\" --><!--#include virtual=\"/page.shtml\" -->").serve(CONF);
    let text = server.text("/page.shtml");
    let parts = text.matches('x').count();
    assert!((100..=1001).contains(&parts), "{parts}");
    server.logged("further lines about this page are omitted");
}

#[test]
fn a_page_includes_a_thousand_documents_and_no_more() {
    let server = page(&"<!--#include virtual=\"/a.txt\" -->".repeat(1100)).file("htdocs/a.txt", "a").serve(CONF);
    let text = server.text("/page.shtml");
    assert_eq!((text.matches("an error").count(), text.split('[').next().map(str::len)), (100, Some(1000)));
    server.logged("includes more than 1000 documents");
}

#[test]
fn values_that_double_themselves_end_at_the_limit() {
    let double = "<!--#set var=\"x\" value=\"$x$x\" -->".repeat(1000);
    let site = page(&format!("<!--#set var=\"x\" value=\"ab\" -->{double}after"));
    let server = site.serve(CONF);
    let text = server.text("/page.shtml");
    assert!(text.starts_with(ERROR) && text.ends_with("after"), "{}", text.len());
    server.logged("a value is longer than 64 KB");
}

#[test]
fn a_list_of_encodings_is_bounded() {
    let list = "base64,".repeat(80);
    let echo = format!("<!--#echo encoding=\"{list}\" var=\"x\" -->");
    let server = page(&format!("<!--#set var=\"x\" value=\"a\" -->{echo}after")).serve(CONF);
    assert_eq!(server.text("/page.shtml"), format!("{ERROR}after"));
    server.logged("encoding has more than 8 names");
}

#[test]
fn variables_are_limited_in_number() {
    let many: String = (0..100_000).map(|number| format!("<!--#set var=\"v{number}\" value=\"1\" -->")).collect();
    let server = page(&format!("{many}after")).serve(CONF);
    assert!(server.text("/page.shtml").ends_with("after"));
    server.logged("the page's variables need more than 512 KB");
}

#[test]
fn the_work_of_a_page_ends_and_others_are_served_meanwhile() {
    let value = "y".repeat(60_000);
    let busy = format!(
        "<!--#set var=\"x\" value=\"{value}\" -->{}after",
        "<!--#set var=\"z\" value=\"$x\" -->".repeat(10_000)
    );
    let server = page(&busy).file("htdocs/other.txt", "other").serve(CONF);
    assert!(server.text("/page.shtml").ends_with("after"));
    assert_eq!(server.text("/other.txt"), "other");
    server.logged("the page's elements exceed the work limit of one request");
}

#[test]
fn a_long_element_and_a_deep_expression_are_errors() {
    let long = format!("<!--#echo var=\"{}\" -->a", "x".repeat(64_000 * 20));
    let deep = format!("<!--#if expr=\"{}true{}\" -->yes<!--#endif -->b", "(".repeat(3000), ")".repeat(3000));
    let legacy = format!("<!--#if expr=\"{}x\" -->yes<!--#endif -->c", "!".repeat(5000));
    let server = Site::new()
        .file("htdocs/page.shtml", &format!("{long}{deep}"))
        .file("htdocs/legacy/page.shtml", &legacy)
        .serve(&format!("{CONF}<Location /legacy>\nSSILegacyExprParser on\n</Location>\n"));
    assert_eq!(server.text("/page.shtml"), format!("{ERROR}a{ERROR}b"));
    assert_eq!(server.text("/legacy/page.shtml"), format!("{ERROR}c"));
    server.logged("longer than 64 KB");
}

#[test]
fn ifs_in_ifs_need_no_room() {
    let deep = "<!--#if expr=\"false\" -->".repeat(100_000);
    let server = page(&format!("{deep}no{}yes", "<!--#endif -->".repeat(100_000))).serve(CONF);
    assert_eq!(server.text("/page.shtml"), "yes");
}
