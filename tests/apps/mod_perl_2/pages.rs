//! Templates and pictures: HTML::Mason, Apache::ASP, Apache::Gallery.

use std::fs::File;
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::no_answer_is_wrong_over_reloads;
use crate::support::{Finished, Load, Request, Response, Server, Site, until};

/// The components and pages that the mod_perl 1 tests use.
const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site");

/// A site with a copy of the folder `from` of [`PAGES`] at `to`.
#[track_caller]
fn with_copy(from: &str, to: &str) -> Site {
    let site = Site::new();
    Finished::of(Command::new("cp").arg("-R").arg(format!("{PAGES}/{from}")).arg(site.path(to))).succeeded();
    site
}

#[track_caller]
fn serve_mason(settings: &str) -> Server {
    with_copy("mason", "mason").serve(&format!(
        r#"
        PerlGeneration 2
        PerlModule CGI HTML::Mason::ApacheHandler
        PerlSetVar MasonDataDir "@DIR@/mason/data"
        Alias /mason/ "@DIR@/mason/comp/"
        <Location /mason>
            SetHandler perl-script
            PerlResponseHandler HTML::Mason::ApacheHandler
            PerlSetVar MasonCompRoot "@DIR@/mason/comp"
            {settings}
        </Location>
        "#
    ))
}

/// Requests to the components: target, expected status, and texts that the response must contain.
const COMPONENTS: &[(&str, u16, &[&str])] = &[
    (
        "/mason/index.html?name=%3Cb%3E+x&words=a&words=b%26&pairs=k&pairs=v",
        200,
        &[
            "<title>Arguments &lt;&amp;&gt;</title>",
            "<h1>Hello, &lt;b&gt; x.</h1>",
            "words=a+b&amp; pairs=k:v",
            "r=Apache2::RequestRec m=HTML::Mason::Request::ApacheHandler isa=none method=GET",
            "<li>café</li>",
            "<b>QUIET WORDS</b>",
            "<p>footer of /index.html</p>",
        ],
    ),
    ("/mason/parts/a/b%20c", 200, &["class=\"part\"", "dhandler=a/b c path=/mason/parts/a/b"]),
    ("/mason/created.html", 201, &["made"]),
    ("/mason/none.html", 404, &[]),
    ("/mason/die.html", 200, &["System error", "on purpose"]),
    ("/mason/syntax.html", 200, &["System error", "syntax error at"]),
];

#[test]
fn masons_components_answer_with_arguments_by_cgi_pm() {
    let server = serve_mason("");
    for round in 1..=2 {
        for (target, status, parts) in COMPONENTS {
            let response = server.get(target).is(*status);
            for part in *parts {
                assert!(response.text().contains(part), "round {round} {target}: no {part:?} in {response:?}");
            }
        }
    }
    let moved = server.get("/mason/redirect.html?name=x").is(302);
    assert_eq!(moved.header("location").as_deref(), Some("/mason/index.html?name=x"));
    let posted = server.post("/mason/index.html", "name=Ana&words=x&words=y").is(200);
    assert!(posted.text().contains("Hello, Ana.") && posted.text().contains("words=x+y"), "{posted:?}");
    let body = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a b.txt\"\r\n\
        Content-Type: text/plain\r\n\r\n0123456789\r\n--b--\r\n";
    let upload = Request::new("POST", "/mason/upload.html").header("Content-Type", "multipart/form-data; boundary=b");
    let text = server.send(upload.body(body)).is(200).text();
    assert!(text.contains("name=a b.txt length=10"), "{text}");
}

#[test]
fn masons_errors_may_be_the_servers() {
    let server = serve_mason("PerlSetVar MasonErrorMode fatal");
    let response = server.get("/mason/die.html").is(500);
    assert!(!response.text().contains("on purpose"), "{response:?}");
    server.logged("on purpose");
}

#[test]
fn mason_answers_under_load_and_over_reloads_from_one_cache() {
    let server = serve_mason("");
    let made = server.text("/mason/cached.html");
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (Request::get("/mason/index.html?name=Ana"), |r| {
                r.text().contains("Hello, Ana.") && r.text().contains("footer of")
            }),
            (Request::post("/mason/index.html", "words=a&words=b"), |r| r.text().contains("words=a+b")),
            (Request::get("/mason/cached.html"), |r| r.status == 200 && r.text().contains("made=")),
        ],
    );
    assert_eq!(server.text("/mason/cached.html"), made);
}

/// A handler made at start-up, as in Mason's manual. Files compiled by then belong to `User`.
#[test]
fn a_mason_handler_may_be_made_at_the_start() {
    let handler = "package House;\nuse HTML::Mason::ApacheHandler;\n\
        my $mason = HTML::Mason::ApacheHandler->new(comp_root => '@DIR@/mason/comp', data_dir => '@DIR@/mason/data');\n\
        $mason->interp->load('/index.html');\nsub handler { $mason->handle_request($_[0]) }\n1;\n";
    let server = with_copy("mason", "mason").file("handler.pl", handler).serve(
        r#"
        PerlRequire handler.pl
        Alias /mason/ "@DIR@/mason/comp/"
        <Location /mason>
            SetHandler perl-script
            PerlResponseHandler House
        </Location>
        "#,
    );
    no_answer_is_wrong_over_reloads(
        &server,
        &[(Request::get("/mason/index.html?name=Ana"), |r| r.status == 200 && r.text().contains("Hello, Ana."))],
    );
}

#[track_caller]
fn serve_asp() -> Server {
    let site = with_copy("asp/counter", "htdocs/counter");
    std::fs::create_dir(site.path("state")).expect("a folder in TMPDIR");
    site.serve(
        r#"
        PerlGeneration 2
        PerlModule Apache::ASP
        <Files ~ "\.asp$">
            SetHandler perl-script
            PerlResponseHandler Apache::ASP
            PerlSetVar Global "@DIR@/htdocs/counter"
            PerlSetVar GlobalPackage Counter
            PerlSetVar StateDir "@DIR@/state"
            PerlSetVar SessionQuery On
            PerlSetVar SessionSerialize On
            PerlSetVar Debug 0
        </Files>
        <Files totals.asp>
            PerlSetVar AllowSessionState Off
        </Files>
        "#,
    )
}

/// The value of `name` in a page's `name=value` words.
#[track_caller]
fn value<'t>(text: &'t str, name: &str) -> &'t str {
    let words = text.split_whitespace().filter_map(|word| word.split_once('='));
    words.into_iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no {name} in {text:?}")).1
}

#[test]
fn a_session_of_apache_asp_is_the_same_in_every_worker() {
    let server = serve_asp();
    let first = server.get("/counter/count.asp").is(200);
    let cookie = format!("session-id={}", value(&first.text(), "session"));
    assert!(first.header("set-cookie").is_some_and(|set| set.starts_with(&cookie)), "{first:?}");
    for count in 2..=6 {
        let again = server.send(Request::get("/counter/count.asp").header("Cookie", &cookie)).is(200);
        assert_eq!((value(&again.text(), "count"), again.header("set-cookie")), (&*count.to_string(), None));
    }
    server.get("/counter/fail.asp").is(500);
    server.logged("a secret of the page");
}

#[test]
fn no_change_of_a_session_of_apache_asp_is_lost_under_load_and_over_reloads() {
    let server = serve_asp();
    let first = server.text("/counter/count.asp");
    let target = format!("/counter/count.asp?session-id={}", value(&first, "session"));
    let good = |response: &Response| response.status == 200 && response.text().contains("count=");
    let load = Load::start(&server, 3, &target, good);
    for _ in 0..2 {
        load.until_answered(100);
        server.reload().succeeded();
    }
    load.until_answered(100);
    let (answered, failures) = load.end();
    assert_eq!(failures, Vec::<String>::new());
    let total = |name: &str| value(&server.text("/counter/totals.asp"), name).to_owned();
    assert_eq!(value(&server.text(&target), "count"), (answered + 2).to_string());
    assert_eq!((total("requests"), total("started")), ((answered + 2).to_string(), "1".to_owned()));
    until("every RegisterCleanup has run", || total("cleaned") == (answered + 2).to_string());
}

/// Makes a picture of 800 x 600 pixels with Imlib2, the library that the gallery uses to read it.
const PAINT: &str = "use Image::Imlib2; my $picture = Image::Imlib2->new(800, 600); $picture->set_color(200, 30, 30, 255); \
    $picture->fill_rectangle(0, 0, 800, 600); $picture->save($_) for @ARGV";

#[test]
fn apache_gallery_shows_folders_and_pictures_and_makes_small_ones() {
    let site = Site::new();
    std::fs::create_dir_all(site.path("pictures/trip")).expect("a folder in TMPDIR");
    let pictures = ["red.jpg", "sea.png"].map(|name| site.path("pictures/trip").join(name));
    Finished::of(Command::new("perl").args(["-e", PAINT]).args(&pictures)).succeeded();
    // A thumbnail from the same second counts as older than its picture, so the gallery would rewrite it at each
    // request. An empty file would exist for a moment.
    for picture in pictures {
        let picture = File::options().append(true).open(picture).expect("a picture");
        picture.set_modified(SystemTime::now() - Duration::from_secs(3600)).expect("a time of change");
    }
    let server = site.serve(
        r#"
        PerlModule Apache::Gallery
        Alias /icons/gallery/ "/usr/share/libapache-gallery-perl/icons/"
        Alias /pictures/ "@DIR@/pictures/"
        <Location /pictures>
            SetHandler modperl
            PerlResponseHandler Apache::Gallery
            PerlOptions +GlobalRequest
            PerlSetVar GalleryTemplateDir '/usr/share/libapache-gallery-perl/templates/default'
            PerlSetVar GallerySizes '640 1024 1600 2272'
            PerlSetVar GalleryThumbnailSize '100x75'
            PerlSetVar GalleryCacheDir "@DIR@/small"
            PerlSetVar GalleryRootPath /pictures
        </Location>
        "#,
    );
    let top = server.text("/pictures/");
    assert!(top.contains("Index of: /pictures") && top.contains("<a href=\"/pictures/trip/\">"), "{top}");
    let folder = server.text("/pictures/trip/");
    assert!(folder.contains("src=\"/pictures/trip/.cache/100x75-red.jpg\" width=\"100\" height=\"75\""), "{folder}");
    assert!(server.text("/pictures/trip/red.jpg").contains("Viewing /pictures/trip/red.jpg at 640 x 480"));
    let small = server.get("/pictures/trip/.cache/100x75-red.jpg").is(200);
    assert!(small.body.starts_with(b"\xff\xd8\xff") && small.body.len() < 8000, "{} bytes", small.body.len());
    server.get("/icons/gallery/agfolder.png").is(200);
    server.get("/pictures/trip/none.jpg").is(404);
    no_answer_is_wrong_over_reloads(
        &server,
        &[
            (Request::get("/pictures/trip/"), |r| r.status == 200 && r.text().contains("100x75-sea.png")),
            (Request::get("/pictures/trip/red.jpg"), |r| r.text().contains("at 640 x 480")),
            (Request::get("/pictures/trip/.cache/100x75-red.jpg"), |r| r.body.starts_with(b"\xff\xd8\xff")),
        ],
    );
}
