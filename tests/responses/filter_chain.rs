//! Filters by conditions: mod/mod_filter.html. The cases of beside_httpd/mod_filter.txt have httpd's answers.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::proxy::backend::Backend;
use crate::support::{Request, Server, Site};

fn serve(conf: &str) -> Server {
    Site::new()
        .file("htdocs/a.txt", &"a camel\n".repeat(100))
        .file("htdocs/a.html", &"a camel\n".repeat(100))
        .file("htdocs/in/a.txt", &"a camel\n".repeat(100))
        .file("htdocs/in/a.html", &"a camel\n".repeat(100))
        .serve(&format!("Substitute s/camel/dromedary/n\n{conf}"))
}

fn is_changed(server: &Server, path: &str) -> bool {
    server.get(path).is(200).text().contains("dromedary")
}

#[test]
fn the_provider_that_was_defined_last_is_tried_first() {
    let server = serve(
        "FilterProvider f DEFLATE \"%{CONTENT_TYPE} =~ m|^text/|\"\n\
         FilterProvider f SUBSTITUTE \"%{CONTENT_TYPE} =~ m|^text/html|\"\nFilterChain f",
    );
    let ask = |path: &str| server.send(Request::get(path).header("Accept-Encoding", "gzip")).is(200);
    assert!(ask("/a.html").text().contains("dromedary"));
    let packed = ask("/a.txt");
    assert_eq!(packed.header("content-encoding").as_deref(), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(&packed.body[..]).read_to_string(&mut text).expect("gzip");
    assert_eq!(text, "a camel\n".repeat(100));
}

#[test]
fn a_condition_sees_the_response_of_a_backend_and_adds_vary() {
    let backend = Backend::new(|_| {
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Kind: page\r\nContent-Length: 7\r\n\r\na camel".to_vec()
    });
    let server = serve(&format!(
        "ProxyPass /app/ {}\n\
         FilterProvider f SUBSTITUTE \"resp('X-Kind') == 'page' && req('X-Plain') != 'yes'\"\n\
         FilterProtocol f SUBSTITUTE \"change=yes;cache=no\"\nFilterChain f",
        backend.url("/")
    ));
    let page = server.get("/app/a").is(200);
    assert_eq!(page.text(), "a dromedary");
    assert_eq!(page.header("vary").as_deref(), Some("X-Plain"));
    assert_eq!(page.header("cache-control").as_deref(), Some("no-cache"));
    assert_eq!(server.send(Request::get("/app/a").header("X-Plain", "yes")).is(200).text(), "a camel");
    assert!(!is_changed(&server, "/a.txt"));
}

#[test]
fn a_condition_about_files_is_answered() {
    let server = serve("FilterProvider f SUBSTITUTE \"-f '@DIR@/htdocs/a.html'\"\nFilterChain f");
    assert!(is_changed(&server, "/a.txt"));
    let part = server.send(Request::get("/a.txt").header("Range", "bytes=0-3")).is(200);
    assert!(part.text().contains("dromedary"));
}

#[test]
fn types_of_an_inner_section_replace_those_of_the_outer_one() {
    let server = serve(
        "AddOutputFilterByType SUBSTITUTE text/plain\n\
         <Location /in>\nAddOutputFilterByType SUBSTITUTE text/html\n</Location>",
    );
    assert!(is_changed(&server, "/a.txt") && !is_changed(&server, "/a.html"));
    assert!(!is_changed(&server, "/in/a.txt") && is_changed(&server, "/in/a.html"));
}

#[test]
fn check_names_a_provider_that_does_not_exist() {
    let site = Site::new();
    site.configure(
        "FilterProvider f RATE_LIMIT true\nFilterTrace g 1\nFilterProvider f SUBSTITUTE resp=Content-Type text/html",
    );
    let checked = site.cameleer(["check", "-f", "site.conf"]);
    for expected in
        ["FilterProvider: there is no filter RATE_LIMIT", "the filter g is not declared", "is that of httpd 2.2"]
    {
        assert!(checked.err.contains(expected), "{expected}: {checked:?}");
    }
}

#[test]
fn a_response_behind_inflate_has_the_same_entity_tag_as_a_304() {
    let backend = Backend::new(|_| b"HTTP/1.1 304 Not Modified\r\nETag: \"t\"\r\n\r\n".to_vec());
    let server = serve(&format!("ProxyPass /app/ {}\nSetOutputFilter INFLATE", backend.url("/")));
    let current = server.send(Request::get("/app/a").header("If-None-Match", "W/\"t\"")).is(304);
    assert_eq!(current.header("etag").as_deref(), Some("W/\"t\""));
}

#[test]
fn a_condition_about_the_response_leaves_a_file_whole() {
    for condition in ["resp('ETag') =~ /./", "%{REQUEST_STATUS} == '200'"] {
        let server =
            serve(&format!("PrecompressedFiles On\nFilterProvider f SUBSTITUTE \"{condition}\"\nFilterChain f"));
        server.site.write("htdocs/a.txt.gz", "made before");
        let part = server.send(Request::get("/a.txt").header("Range", "bytes=0-3")).is(200);
        assert!(part.text().contains("dromedary"), "{condition}: {}", part.text());
        let plain = server.send(Request::get("/a.txt").header("Accept-Encoding", "gzip")).is(200);
        assert!(plain.text().contains("dromedary") && plain.header("content-encoding").is_none(), "{condition}");
    }
    let server = serve("FilterProvider f SUBSTITUTE \"%{REQUEST_STATUS} == '206'\"\nFilterChain f");
    server.send(Request::get("/a.txt").header("Range", "bytes=0-3")).is(200);
}

#[test]
fn a_condition_about_the_response_does_not_show_the_source_of_a_page() {
    let server = serve(
        "FilterProvider f INCLUDES \"resp('ETag') =~ /./\"\nFilterChain f\n\
         <Directory \"@DIR@/htdocs\">\nOptions +Includes\n</Directory>",
    );
    server.site.write("htdocs/page.html", "(<!--#echo var=\"DOCUMENT_NAME\" -->)");
    assert_eq!(server.text("/page.html"), "(page.html)");
    let part = server.send(Request::get("/page.html").header("Range", "bytes=0-9")).is(200);
    assert_eq!(part.text(), "(page.html)");
}

#[test]
fn a_condition_that_exceeds_the_limits_of_work_closes_the_file() {
    let server = serve("<Directory \"@DIR@/htdocs\">\nAllowOverride All\n</Directory>");
    let condition = "%{HTTP:X-Long}".repeat(10);
    server
        .site
        .write("htdocs/in/.htaccess", &format!("FilterProvider f SUBSTITUTE \"'{condition}' != ''\"\nFilterChain f\n"));
    let ask = |value: &str| server.send(Request::get("/in/a.txt").header("X-Long", value));
    assert!(ask("short").is(200).text().contains("dromedary"));
    assert!(!ask(&"a".repeat(7000)).is(500).text().contains("a camel"));
}

#[test]
fn a_condition_is_evaluated_once_for_each_response() {
    let long = format!("'{}' != ''", "%{HTTP:X-Long}".repeat(9));
    let condition = vec![long; 50].join(" && ");
    let conf = format!("FilterProvider f SUBSTITUTE \"{condition}\"\nFilterProvider g DEFLATE \"{condition}\"\n");
    let ask = |chain: &str| {
        let server = serve(&format!("SetOutputFilter DEFLATE\n{conf}FilterChain {chain}"));
        server.send(Request::get("/a.txt").header("X-Long", &"a".repeat(7000)))
    };
    assert!(ask("f").is(200).text().contains("dromedary"));
    // A second evaluation exceeds the limit of work for a request.
    ask("f g").is(500);
}
