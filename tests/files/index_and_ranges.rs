//! Files and folders: mod/mod_dir.html, mod/core.html, mod/mod_asis.html, RFC 9110 section 14

use crate::support::{Request, serve_echo_script as serve};

/// mod_dir.html#directoryindex: "DirectoryIndex index.html index.txt /cgi-bin/index.pl would cause the CGI script to be
/// executed if neither index.html or index.txt existed in a directory". httpd 2.4 passes on the request's method, query
/// and body.
#[test]
fn an_index_may_be_a_path_of_the_site() {
    let server = serve("DirectoryIndex index.html /cgi-bin/tell.cgi");
    server.site.write("htdocs/own/index.html", "own");
    server.site.write("htdocs/none/a.txt", "a");
    assert_eq!(server.text("/own/"), "own");
    let body = server.text("/none/?x=1");
    for line in ["SCRIPT_NAME=/cgi-bin/tell.cgi\n", "QUERY_STRING=x=1\n", "REQUEST_URI=/none/?x=1\n"] {
        assert!(body.contains(line), "{line}{body}");
    }
    assert!(server.post("/none/", "hello").is(200).text().contains("body=hello\n"));
}

/// An index script runs behind Perl phases too; access rules apply to the index's own place; an index that leads to
/// itself ends.
#[test]
fn an_index_elsewhere_has_the_rules_of_its_own_place() {
    let server = serve(
        "<Perl>\nsub My::log { 0 }\n</Perl>\nDirectoryIndex /cgi-bin/tell.cgi\n\
         <Location /phases>\nPerlLogHandler My::log\n</Location>\n\
         <Location /shut>\nDirectoryIndex /closed/a.txt\n</Location>\n<Location /closed>\nDeny from all\n</Location>\n\
         <Location /loop>\nDirectoryIndex /loop/\n</Location>",
    );
    for name in ["phases/x", "shut/x", "closed/a.txt", "loop/x"] {
        server.site.write(&format!("htdocs/{name}"), "x");
    }
    assert!(server.text("/phases/").contains("SCRIPT_NAME=/cgi-bin/tell.cgi\n"));
    server.get("/shut/").is(403);
    server.get("/loop/").is(500);
}

/// core.html#acceptpathinfo: the values On, Off and Default, for files and for scripts.
#[test]
fn the_path_after_a_file_name_is_accepted_or_not() {
    let server = serve(
        "<Location /plain.txt>\nAcceptPathInfo On\n</Location>\n<Location /cgi-bin/tell.cgi/off>\nAcceptPathInfo Off\n</Location>",
    );
    assert_eq!(server.text("/plain.txt/more/x"), "plain\n");
    server.get("/page.html/more").is(404);
    assert!(server.text("/cgi-bin/tell.cgi/on").contains("PATH_INFO=/on\n"));
    server.get("/cgi-bin/tell.cgi/off").is(404);
}

/// mod_asis.html: "sends a document as is", "Status: line", and the headers that the file contains.
#[test]
fn a_file_may_bring_its_own_headers() {
    let server = serve("AddHandler send-as-is .asis");
    server.site.write("htdocs/a.asis", "Status: 404 Gone fishing\nX-Own: yes\nContent-Type: text/plain\n\nbody here\n");
    let page = server.get("/a.asis").is(404);
    assert_eq!((page.header("x-own").as_deref(), page.text().as_str()), (Some("yes"), "body here\n"));
    assert_eq!(page.header("content-type").as_deref(), Some("text/plain"));
    server.site.write("htdocs/moved.asis", "Status: 301 Moved\nLocation: http://elsewhere.example/\n\n");
    let moved = server.get("/moved.asis").is(301);
    assert_eq!(moved.header("location").as_deref(), Some("http://elsewhere.example/"));
    server.site.write("htdocs/empty.asis", "Status: 204 Nothing\n");
    server.get("/empty.asis").is(204);
    server.site.write("htdocs/local.asis", "Location: /page.html?x\n\n");
    assert_eq!(server.text("/local.asis"), server.text("/page.html"));
    assert_eq!(server.get("/a.asis/trailing").is(404).header("x-own").as_deref(), Some("yes"));
    server.site.write("htdocs/loop.asis", "Location: /loop.asis\n\n");
    server.get("/loop.asis").is(500);
    server.site.write("htdocs/broken.asis", "no head at all\n");
    assert!(!server.get("/broken.asis").is(500).text().contains("no head"));
}

/// mod_asis.html: the type activates the handler as its name does.
#[test]
fn a_type_may_say_that_a_file_brings_its_own_headers() {
    let server = serve("AddType httpd/send-as-is .own");
    server.site.write("htdocs/a.own", "Content-Type: text/plain\n\nbody\n");
    let page = server.get("/a.own").is(200);
    assert_eq!((page.header("content-type").as_deref(), page.text().as_str()), (Some("text/plain"), "body\n"));
}

/// RFC 9110, 14.2 and 14.1.2, as httpd 2.4 reads them: overlapping or adjacent ranges are merged. With an invalid range
/// the whole file is sent.
#[test]
fn ranges_are_merged_and_bad_ones_ignored() {
    let server = serve("");
    server.site.write("htdocs/ten.txt", "0123456789");
    let ask = |range: &str| {
        let answer = server.send(Request::get("/ten.txt").header("Range", &format!("bytes={range}")));
        (answer.status, answer.header("content-range"), answer.text())
    };
    let part = |range: &str, text: &str| (206, Some(format!("bytes {range}/10")), text.to_owned());
    let whole = (200, None, "0123456789".to_owned());
    assert_eq!(ask("0-5,3-8"), part("0-8", "012345678"));
    assert_eq!(ask("2-5,0-3"), part("0-5", "012345"));
    assert_eq!(ask("0-1,0-1"), part("0-1", "01"));
    assert_eq!(ask("0-3,4-5"), part("0-5", "012345"));
    assert_eq!(ask("20-30,-0"), whole);
    assert_eq!(ask("20-30,5-2"), whole);
    assert_eq!(ask("0-1,a-b"), whole);
    assert_eq!(ask("20-30").0, 416);
}

/// core.html#fileetag: "INode +Size -MTime", "+ or - […] allow changes to be made to the default setting inherited from
/// a broader scope".
#[test]
fn an_entity_tags_parts_are_added_and_taken_away() {
    let server = serve(
        "<Location /plain.txt>\nFileETag -MTime\n</Location>\n<Location /page.html>\nFileETag +INode\n</Location>\n\
         <Location /page.own>\nFileETag -MTime -Size\n</Location>",
    );
    assert_eq!(server.get("/plain.txt").header("etag").as_deref(), Some("\"6\""));
    assert_eq!(server.get("/page.html").header("etag").map(|tag| tag.matches('-').count()), Some(2));
    assert_eq!(server.get("/page.own").header("etag"), None);
}

/// mod/mod_autoindex.html#indexoptions.showforbidden: files are "normally hidden because the subrequest returned
/// HTTP_UNAUTHORIZED or HTTP_FORBIDDEN".
#[test]
fn a_list_hides_what_the_client_may_not_enter() {
    let server = serve(
        "Options +Indexes\n<Location /list/shut>\nDeny from all\n</Location>\n<Files secret.*>\nDeny from all\n</Files>\n\
         <Location /list/users>\nAuthType Basic\nAuthName x\nAuthUserFile none\nRequire valid-user\n</Location>\n\
         <Location /list/mine>\nOrder Deny,Allow\nDeny from all\nAllow from 127.0.0.2\n</Location>\n\
         <Directory \"@DIR@/htdocs\">\nAllowOverride Limit\n</Directory>",
    );
    for name in ["open.txt", "secret.txt", "shut/x", "users/x", "mine/x", "own/x", "free/x"] {
        server.site.write(&format!("htdocs/list/{name}"), "x");
    }
    server.site.write("htdocs/list/own/.htaccess", "Deny from all\n");
    let shown = |page: &str| {
        let names = ["open.txt", "secret.txt", "shut/", "users/", "mine/", "own/", "free/"];
        names.into_iter().filter(|name| page.contains(&format!("> {name}<"))).collect::<Vec<_>>()
    };
    assert_eq!(shown(&server.text("/list/")), ["open.txt", "free/"]);
    let page = server.send_as("127.0.0.2", Request::get("/list/")).is(200);
    assert_eq!(shown(&page.text()), ["open.txt", "mine/", "free/"]);
}

/// mod_dir.html#directoryindex: "a list of resources to look for when the client requests an index": the name is looked
/// up as an address, so an alias leads it to its own file. Compared with httpd 2.4 and Debian's smokeping.
#[test]
fn an_index_is_looked_up_as_an_address() {
    let server = serve(
        "<Location /app>\nDirectoryIndex app.cgi index.html\n</Location>\nScriptAlias /app/app.cgi @DIR@/elsewhere/app.cgi\n\
         <Location /hidden>\nDirectoryIndex page.html other.html\n</Location>\nAlias /hidden/page.html @DIR@/elsewhere/none.html\n\
         Alias /hidden @DIR@/htdocs/hidden\n<Location /aliased>\nDirectoryIndex page.html\n</Location>\n\
         Alias /aliased/page.html @DIR@/elsewhere/page.html\nAlias /aliased @DIR@/htdocs/aliased\n\
         <Directory @DIR@/elsewhere>\nOptions +ExecCGI\nOrder allow,deny\nAllow from all\n</Directory>",
    );
    let script = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{SCRIPT_NAME} $ENV{QUERY_STRING} $ENV{REQUEST_URI}\";\n";
    server.site.write("elsewhere/app.cgi", script);
    std::fs::set_permissions(
        server.site.path("elsewhere/app.cgi"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .expect("ours");
    server.site.write("elsewhere/page.html", "from elsewhere");
    for (name, text) in
        [("app/index.html", "plain"), ("hidden/page.html", "hidden"), ("hidden/other.html", "other"), ("aliased/x", "")]
    {
        server.site.write(&format!("htdocs/{name}"), text);
    }
    assert_eq!(server.text("/app/?q=1"), "/app/app.cgi q=1 /app/?q=1");
    assert_eq!(server.text("/hidden/"), "other", "the alias of the first leads to nothing");
    assert_eq!(server.text("/aliased/"), "from elsewhere");
}

/// `Alias /one file.cgi/`: the part of the alias behind the file's name is PATH_INFO, too. Tried with httpd 2.4.
#[test]
fn an_alias_may_lead_to_a_script_with_more_behind_its_name() {
    let script = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{SCRIPT_NAME} $ENV{PATH_INFO}\";\n";
    let site = crate::support::Site::new().script("bin/one.cgi", script);
    let server = site.serve(
        "AddHandler cgi-script .cgi\n<Directory @DIR@/bin>\nOptions +ExecCGI\n</Directory>\nAlias /file @DIR@/bin/one.cgi\n\
         Alias /slash/ @DIR@/bin/one.cgi/\n",
    );
    let cases = [
        ("/file", "/file "),
        ("/file/", "/file /"),
        ("/file/a/", "/file /a/"),
        ("/slash/", "/slash /"),
        ("/slash/a", "/slash /a"),
    ];
    for (target, expected) in cases {
        assert_eq!(server.text(target), expected, "{target}");
    }
}
