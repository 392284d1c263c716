//! The report as a page.

use std::io::Write;

use super::Scripted;
use crate::support::{Finished, Site};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[track_caller]
fn page(options: &[&str]) -> String {
    let site = Site::new();
    let mut command = site.command(["bench", "-c", "2", "--html", "report.html"]);
    Finished::of(command.args(options));
    site.read("report.html")
}

#[test]
fn a_page_has_numbers_and_pictures_and_needs_nothing_else() {
    let server = Scripted::start(|stream, number| {
        let answer: &[u8] = if number % 100 == 0 { b"HTTP/1.1 500 <b>\r\nContent-Length: 0\r\n\r\n" } else { OK };
        stream.write_all(answer).is_ok()
    });
    let page = page(&["-n", "2000", &format!("{}<b>?a=\"b\"", server.url)]);
    assert_eq!(page, "", "a URL that is none makes no page");
    let page = self::page(&["-n", "2000", &format!("{}?a='b'&amp;c", server.url)]);
    assert_eq!(page.matches("<svg ").count(), 3, "{page}");
    assert!(page.contains("<td>2000<td>2<td>") && page.contains("20 failed: status"), "{page}");
    assert!(page.contains("?a='b'&amp;amp;c") && page.contains("prefers-color-scheme:dark"), "{page}");
    for outside in ["src=", "href=", "url(", "<script", "@import"] {
        assert!(!page.contains(outside), "{outside}: {page}");
    }
    let lines = regex::Regex::new("class=\"line one\" d=\"M[0-9. ]+(L[0-9. ]+)+\"").expect("a pattern");
    assert!(lines.is_match(&page), "{page}");
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn a_page_of_two_has_both() {
    let servers = [(); 2].map(|()| Scripted::start(|stream, _| stream.write_all(OK).is_ok()));
    let page = page(&["-n", "100", "--vs", &servers[1].url, &servers[0].url]);
    assert_eq!(page.matches("<svg ").count(), 5, "{page}");
    assert!(
        page.contains(&servers[0].url) && page.contains(&servers[1].url) && page.contains("<td>requests/s"),
        "{page}"
    );
}

#[test]
fn a_report_file_that_cannot_be_written_fails_before_the_first_request() {
    let server = Scripted::start(|stream, _| stream.write_all(OK).is_ok());
    Site::new().cameleer(["bench", "--html", "none/report.html", &server.url]).failed(1, "--html none/report.html");
    assert_eq!(server.requests(), 0);
}
