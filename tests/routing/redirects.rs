//! `Redirect`, `RedirectMatch`, `AliasMatch`.

use crate::support::{Request, Server, Site, serve_env_handler as serve};

#[track_caller]
fn leads(server: &Server, path: &str, status: u16, location: &str) {
    let response = server.get(path).is(status);
    assert_eq!(response.header("location").as_deref(), Some(location), "{path}");
}

#[test]
fn a_redirect_takes_the_rest_of_the_path_and_the_query_along() {
    let server = serve(
        "Redirect /old http://example.org/new\nRedirect permanent /for-ever /page.html\nRedirect seeother /see http://example.org/?fixed\n\
         Redirect 307 /kept /k\nRedirectTemp /temp http://t.example/\nRedirectPermanent /perm http://p.example/",
    );
    leads(&server, "/old", 302, "http://example.org/new");
    leads(&server, "/old/a%20b/c?q=1", 302, "http://example.org/new/a%20b/c?q=1");
    leads(&server, "/for-ever", 301, "http://localhost/page.html");
    leads(&server, "/see?q", 303, "http://example.org/?fixed");
    leads(&server, "/kept", 307, "http://localhost/k");
    leads(&server, "/temp", 302, "http://t.example/");
    leads(&server, "/perm", 301, "http://p.example/");
    server.get("/older").is(404);
    leads(&server, "/old/%0d%0aSet-Cookie:x", 302, "http://example.org/new/%0D%0ASet-Cookie:x");
}

#[test]
fn a_redirect_with_gone_has_no_target() {
    let server = serve("Redirect gone /gone\nRedirect 403 /forbidden\nRedirectMatch 410 \\.bak$");
    for (path, status) in [("/gone", 410), ("/gone/below", 410), ("/forbidden", 403), ("/page.bak", 410)] {
        let response = server.get(path).is(status);
        assert_eq!(response.header("location"), None, "{path}");
    }
}

/// mod_alias.html#redirect: "a URL-path … the scheme and hostname of the current server will be added".
#[test]
fn a_path_of_this_server_gets_scheme_and_name() {
    let server = serve(
        "ServerName www.example\nRedirect /old /new\n<Location /canonical>\nUseCanonicalName On\nRedirect /new\n</Location>\n\
         <Location /relative>\nRedirectRelative On\nRedirect /new\n</Location>\n\
         <Location /top>\nRedirectRelative On\n</Location>\nRedirect /top /",
    );
    std::fs::create_dir_all(server.site.path("htdocs/folder/a b")).expect("a folder");
    let location = |path: &str, host: &str| {
        let answer = server.send(Request::get(path).header("Host", host));
        answer.header("location").unwrap_or_default()
    };
    assert_eq!(location("/old/x?y", "localhost"), "http://localhost/new/x?y");
    assert_eq!(location("/old", "other.example:8080"), "http://other.example:8080/new");
    assert_eq!(location("/canonical", "other.example"), "http://www.example/new");
    assert_eq!(location("/relative", "localhost"), "/new");
    assert_eq!(location("/top", "localhost"), "/");
    assert_eq!(location("/top/evil.example", "localhost"), "http://localhost//evil.example");
    assert_eq!(location("/folder/a%20b?c", "localhost"), "http://localhost/folder/a%20b/?c");
    assert_eq!(location("//folder", "localhost"), "http://localhost/folder/");
}

/// As in httpd, where the redirect of a `<Location>` is known before those of the host are compared.
#[test]
fn the_redirect_of_a_location_precedes_those_of_the_host() {
    let server = serve(
        "Redirect /one http://host.example/\n<Location /one/inside>\nRedirect http://inside.example/\n</Location>",
    );
    leads(&server, "/one/inside", 302, "http://inside.example/");
    leads(&server, "/one/x", 302, "http://host.example//x");
}

/// mod_alias.html: httpd compares "any number of slashes", in the directive as in the request.
#[test]
fn the_path_of_a_redirect_and_of_an_alias_may_repeat_slashes() {
    let server = serve("Redirect /a//b http://else.example/\nAlias /c//d \"@DIR@/htdocs\"");
    leads(&server, "/a/b", 302, "http://else.example/");
    server.get("///c/d/plain.txt").is(200);
}

#[test]
fn redirect_match_fills_in_what_its_groups_found() {
    let server = serve("RedirectMatch permanent ^/u/([^/]+)/(.*)$ http://$1.example.org/$2?from=u");
    leads(&server, "/u/camel/a/b?x", 301, "http://camel.example.org/a/b?from=u");
}

/// As in httpd, the path of the URL is encoded, also where it is literal; a group cannot add a parameter to its query.
#[test]
fn a_redirect_is_a_valid_url() {
    let server = serve(
        "RedirectMatch ^/list.* http://example.org/[$0]\nRedirectMatch ^/v6/(.*) http://[::1]:8080/$1\n\
         RedirectMatch ^/q/(.*) http://example.org/?page=$1&x=1\nRedirect /uml \"/über uns\"\nRedirect /p http://example.org/?rest=",
    );
    leads(&server, "/list/a(b),c;d=e@f", 302, "http://example.org/%5B/list/a(b),c;d=e@f%5D");
    leads(&server, "/v6/a%5bb", 302, "http://[::1]:8080/a%5Bb");
    leads(&server, "/q/1&admin=1+2", 302, "http://example.org/?page=1%26admin%3D1%2B2&x=1");
    leads(&server, "/uml", 302, "http://localhost/%C3%BCber%20uns");
    leads(&server, "/p/a&b", 302, "http://example.org/?rest=/a%26b");
}

#[test]
fn script_alias_in_a_location_may_have_an_expression() {
    let site = Site::new().script(
        "cgi/tell",
        "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s %s' \"$SCRIPT_NAME\" \"$PATH_INFO\"\n",
    );
    let server = site.serve(
        "<LocationMatch ^/by/(?<NAME>[a-z]+)>\nScriptAlias \"@DIR@/cgi/%{env:MATCH_NAME}\"\n</LocationMatch>\n\
         <Location /header>\nScriptAlias \"@DIR@/cgi/%{req:X-Name}\"\n</Location>",
    );
    assert_eq!(server.text("/by/tell"), "/by/tell ");
    server.get("/by/none").is(404);
    server.send(Request::get("/header").header("X-Name", "../site.conf")).is(403);
}

#[test]
fn redirects_precede_aliases_and_programs() {
    let server = serve(
        "Alias /moved \"@DIR@/htdocs\"\nRedirect /moved http://example.org/\nRedirect /perl/away http://example.org/p\n\
         <Location /perl/inner>\nRedirect http://example.org/inner\n</Location>",
    );
    leads(&server, "/moved", 302, "http://example.org/");
    leads(&server, "/perl/away/x", 302, "http://example.org/p/x");
    leads(&server, "/perl/inner/x", 302, "http://example.org/inner");
    server.get("/perl").is(200);
}

#[test]
fn a_virtual_hosts_redirects_precede_the_main_servers() {
    let server = serve(
        "Redirect /a http://main.example/\nRedirect /b http://main.example/\n\
         <VirtualHost *>\nServerName v.example\nRedirect /a http://v.example/new\n</VirtualHost>",
    );
    let ask = |path| server.send(Request::get(path).header("Host", "v.example")).header("location");
    assert_eq!(ask("/a").as_deref(), Some("http://v.example/new"));
    assert_eq!(ask("/b").as_deref(), Some("http://main.example/"));
}

#[test]
fn alias_match_inserts_groups_into_the_file_path() {
    let server = Site::new()
        .file("users/camel/public/index.html", "camel's\n")
        .script(
            "users/camel/cgi/hello.pl",
            "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\nhello from $ENV{SCRIPT_NAME}\\n\";",
        )
        .serve(
            "AliasMatch ^/~([^/]+)/(.*) \"@DIR@/users/$1/public/$2\"\n\
             ScriptAliasMatch ^/bin/([^/]+)/(.+) \"@DIR@/users/$1/cgi/$2\"",
        );
    assert_eq!(server.text("/~camel/"), "camel's\n");
    assert_eq!(server.text("/~camel/index.html"), "camel's\n");
    server.get("/~camel/none").is(404);
    server.get("/~camel/../base.conf").is(404);
    assert_eq!(server.text("/bin/camel/hello.pl"), "hello from /bin/camel/hello.pl\n");
}
