//! Files that the front serves without a worker.

use crate::support::{Request, Server, Site};

#[track_caller]
fn serve(conf: &str) -> Server {
    Site::new()
        .file("htdocs/page.html", "<p>page</p>\n")
        .file("htdocs/ten.txt", "0123456789")
        .file("htdocs/sub/index.html", "the index\n")
        .file("secret", "secret\n")
        .serve(conf)
}

#[test]
fn a_file_has_its_type_length_and_date() {
    let response = serve("").get("/page.html").is(200);
    assert_eq!(response.text(), "<p>page</p>\n");
    assert_eq!(response.header("content-type").as_deref(), Some("text/html"));
    assert_eq!(response.header("content-length").as_deref(), Some("12"));
    assert_eq!(response.header("accept-ranges").as_deref(), Some("bytes"));
    for name in ["last-modified", "etag"] {
        assert!(response.header(name).is_some(), "{name}");
    }
}

#[test]
fn types_come_from_the_extension_and_from_add_type() {
    let server = serve("AddType application/x-own .own\nDefaultType text/x-unknown");
    for (name, kind) in [
        ("a.css", "text/css"),
        ("a.PNG", "image/png"),
        ("a.own", "application/x-own"),
        ("a.unheardof", "text/x-unknown"),
        ("a", "text/x-unknown"),
    ] {
        server.site.write(&format!("htdocs/{name}"), "x");
        assert_eq!(server.get(&format!("/{name}")).header("content-type").as_deref(), Some(kind), "{name}");
    }
}

#[test]
fn a_client_that_has_the_file_gets_a_304() {
    let server = serve("");
    let first = server.get("/ten.txt");
    let (etag, date) = (first.header("etag").expect("an etag"), first.header("last-modified").expect("a date"));
    for request in [
        Request::get("/ten.txt").header("If-None-Match", &etag),
        Request::get("/ten.txt").header("If-None-Match", "*"),
        Request::get("/ten.txt").header("If-Modified-Since", &date),
        Request::new("HEAD", "/ten.txt").header("If-None-Match", &format!("\"other\", {etag}")),
    ] {
        let response = server.send(request).is(304);
        assert_eq!(response.header("etag").as_deref(), Some(etag.as_str()));
        assert_eq!(response.header("content-type"), None);
    }
    server
        .send(Request::get("/ten.txt").header("If-None-Match", "\"other\"").header("If-Modified-Since", &date))
        .is(200);
    server.send(Request::get("/ten.txt").header("If-Modified-Since", "Tue, 01 Jan 1980 00:00:00 GMT")).is(200);
}

#[test]
fn preconditions_that_fail_are_a_412() {
    let server = serve("");
    server.send(Request::get("/ten.txt").header("If-Match", "\"other\"")).is(412);
    server.send(Request::get("/ten.txt").header("If-Unmodified-Since", "Tue, 01 Jan 1980 00:00:00 GMT")).is(412);
}

#[test]
fn ranges_are_sent_as_parts() {
    let server = serve("");
    for (range, expected, described) in [
        ("bytes=0-3", "0123", "bytes 0-3/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-2", "89", "bytes 8-9/10"),
        ("bytes=5-100", "56789", "bytes 5-9/10"),
    ] {
        let response = server.send(Request::get("/ten.txt").header("Range", range)).is(206);
        assert_eq!(
            (response.text().as_str(), response.header("content-range").as_deref()),
            (expected, Some(described)),
            "{range}"
        );
    }
    let beyond = server.send(Request::get("/ten.txt").header("Range", "bytes=50-60")).is(416);
    assert_eq!(beyond.header("content-range").as_deref(), Some("bytes */10"));
}

#[test]
fn several_ranges_are_a_multipart_and_nonsense_is_ignored() {
    let server = serve("");
    let parts = server.send(Request::get("/ten.txt").header("Range", "bytes=0-1,8-9")).is(206);
    assert!(parts.header("content-type").is_some_and(|kind| kind.starts_with("multipart/byteranges; boundary=")));
    assert!(parts.text().contains("bytes 0-1/10") && parts.text().contains("bytes 8-9/10"), "{}", parts.text());
    assert_eq!(server.send(Request::get("/ten.txt").header("Range", "lines=1-2")).is(200).text(), "0123456789");
    assert_eq!(
        server
            .send(Request::get("/ten.txt").header("Range", "bytes=0-1").header("If-Range", "\"other\""))
            .is(200)
            .text(),
        "0123456789"
    );
}

#[test]
fn head_has_the_length_and_no_body() {
    let server = serve("");
    let mut connection = server.connect();
    let head = connection.ask(Request::new("HEAD", "/ten.txt")).is(200);
    assert_eq!(head.header("content-length").as_deref(), Some("10"));
    assert_eq!(connection.ask(Request::get("/ten.txt")).text(), "0123456789");
}

#[test]
fn a_folder_is_redirected_to_its_slash_and_shows_its_index() {
    let server = serve("");
    for (path, to) in [("/sub?a=b", "/sub/?a=b"), ("//sub", "/sub/"), ("/./sub", "/sub/"), ("/s%75b", "/sub/")] {
        let location = server.get(path).is(301).header("location");
        assert_eq!(location, Some(format!("http://localhost{to}")), "{path}: on this host");
    }
    assert_eq!(server.text("/sub/"), "the index\n");
    server.get("/").is(403);
}

#[test]
fn directory_index_names_are_tried_in_order() {
    let server = serve("DirectoryIndex first.txt index.html");
    assert_eq!(server.text("/sub/"), "the index\n");
    server.site.write("htdocs/sub/first.txt", "the first\n");
    assert_eq!(server.text("/sub/"), "the first\n");
}

#[test]
fn no_path_leads_out_of_the_document_root() {
    let server = serve("");
    for path in [
        "/../secret",
        "/sub/../../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "/sub/..%2f..%2fsecret",
        "/%2e%2e%2fsecret",
        "/....//secret",
        "/..\\secret",
        "/sub/%252e%252e/%252e%252e/secret",
        "//../secret",
        "/./../secret",
        "/ten.txt/../../secret",
        "/%00",
        "/secret%00.html",
    ] {
        let response = server.get(path);
        assert!(
            [400, 403, 404].contains(&response.status) && !response.text().contains("secret\n"),
            "{path}: {response:?}"
        );
    }
}

#[test]
fn links_are_followed_only_with_the_option() {
    let server = serve("<Directory @DIR@/htdocs/no>\nOptions -FollowSymLinks\n</Directory>");
    std::fs::create_dir(server.site.path("htdocs/no")).expect("made");
    for name in ["yes.txt", "no/link.txt"] {
        std::os::unix::fs::symlink(server.site.path("secret"), server.site.path(&format!("htdocs/{name}")))
            .expect("linked");
    }
    assert_eq!(server.text("/yes.txt"), "secret\n");
    server.get("/no/link.txt").is(403);
}

#[test]
fn missing_files_hidden_files_and_wrong_methods_are_refused() {
    let server = serve("");
    server.site.write("htdocs/.htaccess", "x");
    server.get("/none").is(404);
    for path in ["/page.html/more", "/page.html/", "/sub/none/none", "/%ff%fe", "/a%0ab"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    server.get(&format!("/{}", "x".repeat(5000))).is(404);
    server.get("/.htaccess").is(403);
    let wrong = server.post("/page.html", "x").is(405);
    assert!(wrong.header("allow").is_some_and(|allow| allow.contains("GET")), "{wrong:?}");
}

#[test]
fn an_alias_serves_another_folder_and_the_longest_wins() {
    let server = serve("Alias /icons/ \"@DIR@/pictures/\"\nAlias /icons/small/ \"@DIR@/small/\"");
    server.site.write("pictures/a.txt", "picture\n");
    server.site.write("small/a.txt", "small\n");
    assert_eq!(server.text("/icons/a.txt"), "picture\n");
    server.get("/icons/../secret").is(404);
}

#[test]
fn a_large_file_is_sent_whole_without_growing_the_front() {
    let server = serve("");
    let file = std::fs::File::create(server.site.path("htdocs/large")).expect("made");
    file.set_len(300 << 20).expect("a sparse file");
    let mut connection = server.connect();
    connection.raw("GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!(connection.head().header("content-length").as_deref(), Some("314572800"));
    assert_eq!(connection.rest().len(), 300 << 20);
    let front = server.status()["front_pid"].as_i64().expect("a front");
    let status = std::fs::read_to_string(format!("/proc/{front}/status")).expect("it lives");
    let peak = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    let kb: u64 = peak.split_whitespace().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    assert!(kb < 64 * 1024, "{peak}");
}

#[test]
fn static_files_are_served_while_every_worker_is_busy() {
    let server = Site::new()
        .file("app.psgi", "sub { select undef, undef, undef, 0.01 until -e '@DIR@/go'; [200, [], ['slow']] }")
        .file("htdocs/file.txt", "at once\n")
        .serve("MaxClients 1\nStartServers 1\n<Location /app>\nPsgiApp app.psgi\n</Location>");
    let mut busy = server.connect();
    busy.raw("GET /app HTTP/1.1\r\nHost: localhost\r\n\r\n");
    crate::support::until("the worker is busy", || server.workers().iter().any(|(_, state)| state == "Busy"));
    assert_eq!(server.text("/file.txt"), "at once\n");
    server.site.write("go", "");
    assert_eq!(busy.response().text(), "slow");
}
