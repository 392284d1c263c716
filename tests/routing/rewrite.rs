//! `RewriteRule`: httpd's manual, mod/mod_rewrite.html and rewrite/flags.html. Expected values are those of Debian's
//! Apache, except the differences in docs/decisions/0017.

use crate::support::{Load, Request, Response, Server, Site};

const SCRIPT: &str = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\";\n\
    my $body = ''; read STDIN, $body, $ENV{CONTENT_LENGTH} if $ENV{CONTENT_LENGTH};\n\
    print join ' ', map { defined $ENV{$_} ? \"$_=$ENV{$_}\" : () } qw(SCRIPT_NAME PATH_INFO QUERY_STRING REDIRECT_URL XVAR HTTP_AUTHORIZATION);\n\
    print \" body=$body\" if length $body;\n";

const CONF: &str = "<Directory @DIR@/htdocs>\nAllowOverride All\nOptions +ExecCGI\n</Directory>\n\
    <Directory @DIR@/srv>\nOptions +ExecCGI\n</Directory>\nAddHandler cgi-script .pl\n\
    ScriptAlias /cgi-bin/ @DIR@/cgi/\nAlias /other @DIR@/other\n";

fn site() -> Site {
    ["htdocs/index.pl", "htdocs/wiki/index.pl", "cgi/c.pl", "srv/s.pl"]
        .into_iter()
        .fold(Site::new(), |site, name| site.script(name, SCRIPT))
        .file("htdocs/there.txt", "there")
        .file("htdocs/wiki/there.txt", "wiki there")
        .file("srv/f.txt", "srv f")
        .file("other/o.txt", "other")
}

fn serve(rules: &str) -> Server {
    site().serve(&format!("{CONF}RewriteEngine On\n{rules}"))
}

fn in_folder(rules: &str) -> Server {
    site().file("htdocs/wiki/.htaccess", &format!("RewriteEngine On\n{rules}")).serve(CONF)
}

const FRONT_CONTROLLER: &str = "RewriteCond %{REQUEST_FILENAME} !-f\nRewriteCond %{REQUEST_FILENAME} !-d\n\
    RewriteRule ^(.*)$ index.pl?p=$1 [L,QSA]";

#[test]
fn rules_of_a_host_select_other_files_without_a_change_of_the_path() {
    let server = serve(
        "RewriteRule ^/x/(.*)$ /index.pl?p=$1\nRewriteRule ^/y/(.*)$ /index.pl/$1\nRewriteRule ^/disk/(.*)$ @DIR@/srv/$1\n\
         RewriteRule ^/other/path/(.*)$ /index.pl/in/$1\nRewriteRule ^/there$ %{DOCUMENT_ROOT}/there.txt\nRewriteRule ^/alias /other/o.txt\nRewriteRule ^/passed /other/o.txt [PT]\n\
         RewriteRule ^/cgi/(.*)$ /cgi-bin/$1 [PT]",
    );
    for (target, expected) in [
        ("/x/a?q=1", "SCRIPT_NAME=/x/a QUERY_STRING=p=a"),
        ("/y/info/more?q=1", "SCRIPT_NAME=/y PATH_INFO=/info/more QUERY_STRING=q=1"),
        ("/disk/f.txt", "srv f"),
        ("/disk/s.pl/info", "SCRIPT_NAME=/disk/s.pl PATH_INFO=/info QUERY_STRING="),
        ("/other/path/info", "SCRIPT_NAME=/index.pl PATH_INFO=/in/info QUERY_STRING="),
        ("/there", "there"),
        ("/passed", "other"),
        ("/cgi/c.pl/info", "SCRIPT_NAME=/cgi-bin/c.pl PATH_INFO=/info QUERY_STRING="),
    ] {
        assert_eq!(server.text(target), expected, "{target}");
    }
    server.get("/alias").is(404);
}

#[test]
fn rules_send_clients_away() {
    let server = serve(
        "RewriteRule ^/r1/(.*) /n/$1?z=$1 [R=301]\nRewriteRule ^/r2/(.*) https://example.com/$1\n\
         RewriteRule ^/f - [F]\nRewriteRule ^/g - [G]\nRewriteRule ^/n - [R=404]",
    );
    for (target, status, location) in [
        ("/r1/a%20b", 301, Some("http://localhost/n/a%20b?z=a%20b".to_owned())),
        ("/r2/a:b?c=%20", 302, Some("https://example.com/a:b?c=%20".to_owned())),
        ("/f", 403, None),
        ("/g", 410, None),
        ("/n", 404, None),
    ] {
        let answer = server.get(target).is(status);
        assert_eq!(answer.header("Location"), location, "{target}");
    }
}

#[test]
fn conditions_test_the_request_and_the_disk() {
    let server = serve(
        "RewriteCond %{HTTP_USER_AGENT} ^Bot [NC,OR]\nRewriteCond %{REQUEST_METHOD} !^GET$\nRewriteRule ^/b$ /index.pl?bot\n\
         RewriteCond %{QUERY_STRING} ^id=([0-9]+)$\nRewriteRule ^/q$ /index.pl?number=%1\n\
         RewriteCond %{DOCUMENT_ROOT}%{REQUEST_FILENAME} !-f\nRewriteRule ^/missing /index.pl?missing",
    );
    server.get("/b").is(404);
    assert!(
        server.send(Request::get("/b").header("User-Agent", "bottle")).is(200).text().ends_with("QUERY_STRING=bot")
    );
    assert!(server.post("/b", "a=b").is(200).text().ends_with("QUERY_STRING=bot body=a=b"));
    assert!(server.text("/q?id=7").ends_with("QUERY_STRING=number=7"));
    server.get("/q?id=x").is(404);
    assert!(server.text("/missing").ends_with("QUERY_STRING=missing"));
    server.site.write("htdocs/missing", "found");
    assert_eq!(server.text("/missing"), "found");
}

#[test]
fn a_folder_has_one_program_for_all_that_is_no_file() {
    let server = in_folder(FRONT_CONTROLLER);
    for (target, expected) in [
        ("/wiki/Page", "SCRIPT_NAME=/wiki/index.pl QUERY_STRING=p=Page REDIRECT_URL=/wiki/Page"),
        ("/wiki/Page/sub?x=1", "SCRIPT_NAME=/wiki/index.pl QUERY_STRING=p=Page/sub&x=1 REDIRECT_URL=/wiki/Page/sub"),
        ("/wiki/there.txt", "wiki there"),
        ("/wiki/index.pl/info", "SCRIPT_NAME=/wiki/index.pl PATH_INFO=/info QUERY_STRING="),
    ] {
        assert_eq!(server.text(target), expected, "{target}");
    }
    let posted = server.post("/wiki/Page", "a=b").is(200).text();
    assert!(posted.ends_with("REDIRECT_URL=/wiki/Page body=a=b"), "{posted}");
}

#[test]
fn a_folder_behind_an_alias_needs_no_base() {
    let rules = "RewriteEngine On\nRewriteRule ^go$ o.txt\nRewriteRule ^away$ o.txt [R]\nRewriteRule ^up$ /there.txt";
    let conf = format!("{CONF}<Directory @DIR@/other>\n{rules}\n</Directory>");
    let server = site().serve(&conf);
    assert_eq!((server.text("/other/go"), server.text("/other/up")), ("other".to_owned(), "there".to_owned()));
    let base = in_folder(
        "RewriteBase /wiki\nRewriteRule ^r/(.*)$ $1 [R]\nRewriteRule ^e$ - [E=XVAR:1]\nRewriteRule ^e$ index.pl",
    );
    let location = base.get("/wiki/r/x").is(302).header("Location");
    assert_eq!(location, Some("http://localhost/wiki/x".to_owned()));
    assert!(base.text("/wiki/e").contains("REDIRECT_URL=/wiki/e"));
}

#[test]
fn a_program_finds_what_a_rule_has_set() {
    let server = in_folder("RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization},E=XVAR:$0]");
    let value = server.send(Request::get("/wiki/index.pl").header("Authorization", "Bearer x")).is(200).text();
    assert!(value.ends_with("XVAR=index.pl HTTP_AUTHORIZATION=Bearer x"), "{value}");
}

#[test]
fn a_loop_of_rules_is_a_logged_error() {
    let server = in_folder("RewriteRule ^loop(.*)$ loopx$1");
    server.get("/wiki/loop").is(500);
    server.logged("was redirected internally 10 times");
    let server = in_folder("RewriteRule ^loop(.*)$ loopx$1 [END]");
    server.get("/wiki/loop").is(404);
}

#[test]
fn access_rules_hold_for_both_places_of_a_path_that_stays() {
    let shut =
        "<Location /shut>\nRequire all denied\n</Location>\n<Directory @DIR@/srv>\nRequire all denied\n</Directory>\n";
    let server = serve(&format!(
        "{shut}RewriteRule ^/shut/(.*) /there.txt\nRewriteRule ^/disk/(.*) @DIR@/srv/$1\nRewriteRule ^/in/(.*) /shut/$1 [PT]"
    ));
    for target in ["/shut/x", "/disk/f.txt", "/in/x"] {
        server.get(target).is(403);
    }
    let server = in_folder("Require all denied\nRewriteRule ^(.*)$ /there.txt");
    server.get("/wiki/x").is(403);
}

#[test]
fn dot_dot_from_a_client_does_not_leave_the_folder() {
    let server = serve(
        "RewriteCond %{QUERY_STRING} ^page=(.*)\nRewriteRule ^/page @DIR@/htdocs/%1\nRewriteRule ^/dot(.*) @DIR@/htdocs/.$1",
    );
    assert_eq!(server.text("/page?page=there.txt"), "there");
    server.get("/page?page=../srv/f.txt").is(403);
    server.get("/dot./srv/f.txt").is(403);
}

#[test]
fn virtual_hosts_have_rules_of_their_own_and_maps() {
    let site = site().file("names.map", "# names\none /there.txt\n");
    let server = site.serve(&format!(
        "{CONF}RewriteEngine On\nRewriteRule ^/main /there.txt\n<VirtualHost *:*>\nServerName own.example\n\
         RewriteMap names txt:names.map\nRewriteMap low int:tolower\nRewriteRule ^/m/(.*) ${{names:$1|/index.pl?none=${{low:$1}}}}\n</VirtualHost>"
    ));
    let own = |target: &str| server.send(Request::get(target).header("Host", "own.example"));
    server.get("/main").is(404);
    own("/main").is(404);
    assert_eq!(own("/m/one").is(200).text(), "there");
    assert!(own("/m/NONE").is(200).text().ends_with("QUERY_STRING=none=none"));
}

#[test]
fn line_ends_in_a_path_bypass_no_rule() {
    let server = serve(
        "RewriteRule ^/private/(.*)$ - [F]\n<LocationMatch \"^/shut/.*$\">\nRequire all denied\n</LocationMatch>",
    );
    for target in ["/private/x", "/private/%0a", "/shut/%0Ax"] {
        server.get(target).is(403);
    }
}

#[test]
fn a_condition_matches_all_header_fields_of_a_name() {
    let server = serve(
        "RewriteCond %{HTTP_USER_AGENT} bad\nRewriteRule ^ - [F]\nRewriteCond %{HTTP_COOKIE} \"^a=1; b=2$\"\nRewriteRule ^ - [G]",
    );
    let twice =
        |name: &str, first: &str, second: &str| Request::get("/there.txt").header(name, first).header(name, second);
    server.send(twice("User-Agent", "good", "bad")).is(403);
    server.send(twice("Cookie", "a=1", "b=2")).is(410);
    let answer = server.get("/there.txt").is(200);
    assert_eq!(answer.header("Vary"), None, "no condition that holds has looked at a header");
}

#[test]
fn values_tested_and_set_by_rules_are_in_the_response() {
    let server = serve("RewriteCond %{HTTP_USER_AGENT} ^Bot\nRewriteRule ^ - [CO=seen:yes:localhost:0:/:0:httponly]");
    let answer = server.send(Request::get("/there.txt").header("User-Agent", "Bot")).is(200);
    assert_eq!(answer.header("Vary").as_deref(), Some("user-agent"));
    assert_eq!(answer.header("Set-Cookie").as_deref(), Some("seen=yes; path=/; domain=localhost; HttpOnly"));
}

#[test]
fn sections_look_at_the_plain_name_of_a_file() {
    let shut = "<DirectoryMatch \"^@DIR@/htdocs/wiki\">\nRequire all denied\n</DirectoryMatch>\n";
    let server = serve(&format!("{shut}RewriteCond %{{QUERY_STRING}} ^page=(.*)\nRewriteRule ^/page @DIR@/htdocs/%1"));
    for target in ["/page?page=wiki/there.txt", "/page?page=/wiki/there.txt", "/page?page=./wiki/there.txt"] {
        server.get(target).is(403);
    }
}

#[test]
fn the_same_file_is_answered_with_the_new_query_and_a_folder_gets_its_slash() {
    let server = in_folder("RewriteRule ^(.*)$ index.pl?q=$1 [L,QSA]");
    assert!(server.text("/wiki/foo").contains("QUERY_STRING=q=index.pl&q=foo"));
    assert!(server.text("/wiki/index.pl").ends_with("QUERY_STRING=q=index.pl"));
    let answer = server.get("/wiki").is(301);
    assert!(answer.header("Location").is_some_and(|to| to.starts_with("http://localhost/wiki/")), "{answer:?}");
}

/// httpd reads the first three arguments only; the flags of the fourth have no effect there either.
#[test]
fn flags_in_a_second_pair_of_brackets_are_ignored_with_a_warning() {
    let server = serve("RewriteRule ^/a$ /index.pl?p=a [PT] [F]");
    assert!(server.text("/a").ends_with("QUERY_STRING=p=a"));
    server.logged("ignores \"[F]\", as httpd does; write all flags in one pair of brackets");
}

#[test]
fn the_port_of_a_link_is_the_clients() {
    let server = serve("RewriteRule ^/r /x [R]\nRewriteRule ^/cors - [R=204]");
    let location = |host: &str| server.send(Request::get("/r").header("Host", host)).is(302).header("Location");
    assert_eq!(location("site.example").as_deref(), Some("http://site.example/x"));
    assert_eq!(location("site.example:8080").as_deref(), Some("http://site.example:8080/x"));
    server.get("/cors").is(204);
}

#[test]
fn a_path_in_latin_1_stays_what_it_is() {
    let server = serve("RewriteRule ^/x/(.*)$ /index.pl?p=$1");
    assert!(server.text("/x/%e9").ends_with("QUERY_STRING=p=%E9"));
}

#[test]
fn a_script_may_have_a_slash_behind_its_name() {
    assert_eq!(serve("").text("/index.pl/"), "SCRIPT_NAME=/index.pl PATH_INFO=/ QUERY_STRING=");
}

#[test]
fn rules_of_a_folder_come_before_its_redirects_and_redirects_before_other_paths() {
    let server = in_folder(
        "Redirect 301 /wiki/old http://example.com/\nRewriteRule ^old/shut$ - [F]\nRewriteRule ^old/in$ there.txt\nRewriteRule ^new$ there.txt",
    );
    server.get("/wiki/old/shut").is(403);
    server.get("/wiki/old/in").is(301);
    assert_eq!(server.text("/wiki/new"), "wiki there");
}

#[test]
fn a_route_stored_for_one_file_is_not_used_for_another() {
    let page = |name: &str| {
        format!("#!/usr/bin/perl\nprint \"Content-Type: text/plain\\nCache-Control: max-age=60\\n\\n{name}\";")
    };
    let server = site().script("htdocs/de.pl", &page("de")).script("htdocs/en.pl", &page("en")).serve(&format!(
        "{CONF}CacheEnable memory /\nRewriteEngine On\nRewriteCond %{{HTTP:Accept-Language}} ^de\nRewriteRule ^/page /de.pl [L]\n\
         RewriteRule ^/page /en.pl"
    ));
    let page = |language: &str| server.send(Request::get("/page").header("Accept-Language", language)).is(200).text();
    for _ in 0..2 {
        assert_eq!((page("en"), page("de")), ("en".to_owned(), "de".to_owned()));
    }
}

#[test]
fn a_fallback_answers_for_what_is_not_there() {
    let server = site().file("htdocs/empty/.keep", "").serve(&format!(
        "{CONF}<Directory @DIR@/htdocs>\nFallbackResource /index.pl\n</Directory>\n\
         <Directory @DIR@/htdocs/wiki>\nFallbackResource disabled\n</Directory>"
    ));
    for target in ["/none", "/none/at/all", "/empty/"] {
        assert!(server.text(target).starts_with("SCRIPT_NAME=/index.pl "), "{target}");
    }
    assert!(server.post("/none?q=1", "a=b").is(200).text().ends_with("QUERY_STRING=q=1 body=a=b"));
    assert_eq!(server.text("/there.txt"), "there");
    server.get("/wiki/none").is(404);
}

#[test]
fn rules_are_followed_under_load_and_over_a_reload() {
    let server = in_folder(FRONT_CONTROLLER);
    let is_page = |response: &Response| response.status == 200 && response.text().contains("p=Page");
    let load = Load::start(&server, 2, "/wiki/Page", is_page);
    load.until_answered(50);
    server.reload().succeeded();
    load.until_answered(50);
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
fn the_log_has_the_steps_of_each_rule_by_level() {
    let server =
        serve("LogLevel rewrite:trace4\nRewriteCond %{REQUEST_METHOD} =GET\nRewriteRule ^/x/(.*)$ /there.txt?q=$1");
    assert_eq!(server.text("/x/a"), "there");
    for message in [
        "[rewrite:trace2]",
        "init rewrite engine with requested uri /x/a",
        "[rewrite:trace3]",
        "applying pattern '^/x/(.*)$' to uri '/x/a' (",
        "RewriteCond: input='GET' pattern='=GET' => matched",
        "rewrite '/x/a' -> '/there.txt?q=a'",
        "go-ahead with /there.txt [OK]",
    ] {
        server.logged(message);
    }
    let quiet = serve("LogLevel debug\nRewriteRule ^/x/(.*)$ /there.txt");
    assert_eq!(quiet.text("/x/a"), "there");
    assert!(!quiet.log().contains("[rewrite:"), "{}", quiet.log());
}

#[test]
fn a_rule_with_endless_look_aheads_is_an_error() {
    let rules: String = (0..60).map(|n| format!("RewriteCond /there.txt?{n} !-U\nRewriteRule ^ /none\n")).collect();
    let server = serve(&rules);
    server.get("/there.txt").is(500);
    server.logged("look up more than 50 paths, files or values of programs");
}

#[test]
fn a_place_where_perl_decides_about_access_counts_as_refused() {
    let server = site()
        .file("lib/My.pm", "package My; sub handler { 0 }\n1;\n")
        .serve(&format!(
            "{CONF}PerlLib lib\nPerlModule My\n<Location /there.txt>\nPerlAccessHandler My\n</Location>\n\
             RewriteEngine On\nRewriteCond /there.txt -U\nRewriteRule ^/a /index.pl?in [L]\nRewriteRule ^/a /index.pl?refused"
        ));
    assert!(server.text("/a").ends_with("QUERY_STRING=refused"));
}

#[test]
fn pages_of_the_server_are_no_handlers_for_folders() {
    let server = in_folder("RewriteRule ^there - [H=server-status]");
    assert_eq!(server.text("/wiki/there.txt"), "wiki there");
    server.logged("[H=server-status] is ignored in <Directory> and .htaccess, because its page shows the whole server");
}

#[test]
fn handler_and_type_of_a_rule_reach_the_worker() {
    let handler = "package My; sub handler { my $r = shift; $r->send_http_header(); $r->print($r->uri, ' ', $r->handler); 0 }\n1;\n";
    let server = site().file("lib/My.pm", handler).serve(&format!(
        "{CONF}PerlLib lib\nPerlModule My\n<Directory @DIR@/htdocs>\nPerlHandler My\n</Directory>\nRewriteEngine On\n\
         RewriteRule ^/there - [H=perl-script,T=text/x-own]"
    ));
    let answer = server.get("/there.txt").is(200);
    assert_eq!(answer.header("Content-Type").as_deref(), Some("text/x-own"));
    assert_eq!(answer.text(), "/there.txt perl-script");
}

#[test]
fn rules_and_redirects_for_an_index_hold_for_its_folder_too() {
    let guarded = "RewriteEngine On\nRewriteRule \\.html$ - [F]\n";
    let server = Site::new()
        .file("htdocs/file/index.html", "secret")
        .file("htdocs/file/.htaccess", guarded)
        .file("htdocs/host/index.html", "secret")
        .file("htdocs/place/index.html", "secret")
        .file("htdocs/moved/index.html", "old")
        .file("htdocs/other/index.html", "index")
        .file("htdocs/other/page.txt", "page")
        .file("htdocs/tidy/index.html", "index")
        .file("htdocs/tidy/.htaccess", "RewriteEngine On\nRewriteRule ^index\\.html$ /tidy/ [R=301]\n")
        .serve(&format!(
            "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n<Directory @DIR@/htdocs/place>\n{guarded}</Directory>\n\
             Redirect 301 /moved/index.html /new\n\
             RewriteEngine On\nRewriteRule ^/host/index\\.html$ - [F]\nRewriteRule ^/other/index\\.html$ /other/page.txt [PT]\n"
        ));
    for folder in ["file", "host", "place"] {
        for page in ["", "index.html"] {
            assert_eq!(server.get(&format!("/{folder}/{page}")).status, 403, "/{folder}/{page}");
        }
    }
    assert_eq!(server.get("/moved/").status, 301);
    assert_eq!(server.text("/other/"), "page");
    // As in httpd, rules that redirect do not apply to the index of a folder, so this is no loop.
    assert_eq!(server.get("/tidy/index.html").status, 301);
    assert_eq!(server.text("/tidy/"), "index");
}
