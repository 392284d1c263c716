//! Access rules are checked before the cache, for each request; responses of locations where Perl code decides are not
//! stored.

use super::{serve, serve_with};
use crate::support::{Request, Site, until};

const PUBLIC: &str = "200|Cache-Control: public, max-age=60";

#[test]
fn a_page_for_some_clients_is_not_sent_to_others() {
    let site = serve(
        "<Location /addresses>\nOrder deny,allow\nDeny from all\nAllow from 127.0.0.2\n</Location>\n\
         <Location /users>\nAuthType Basic\nAuthName x\nAuthUserFile users\nRequire valid-user\n</Location>",
    );
    site.0.site.write("users", "anna:{SHA}nU4eI71bcnBGqeO0t9tXvY1u5oQ=\n");
    let inside = || Request::get("/addresses/a").header("X-Answer", PUBLIC);
    let first = site.0.send_as("127.0.0.2", inside()).is(200);
    assert_eq!(site.0.send_as("127.0.0.2", inside()).is(200).text(), first.text(), "it is kept");
    site.0.send_as("127.0.0.3", inside()).is(403);
    site.0.send_as("127.0.0.3", inside().header("Cache-Control", "only-if-cached")).is(403);
    let user = |name: &str| Request::get("/users/a").header("Authorization", name);
    let first = site.send(user("Basic YW5uYTpwYXNz"), PUBLIC).is(200);
    assert_eq!(site.send(user("Basic YW5uYTpwYXNz"), PUBLIC).is(200).text(), first.text(), "it is kept");
    site.send(user("Basic YW5uYTp3cm9uZw=="), PUBLIC).is(401);
    site.ask("/users/a", PUBLIC).is(401);
}

/// Without `public`, a response to one user is not reused for another.
#[test]
fn pages_of_users_are_their_own() {
    let site =
        serve("<Location /users>\nAuthType Basic\nAuthName x\nAuthUserFile users\nRequire valid-user\n</Location>");
    let hash = "{SHA}nU4eI71bcnBGqeO0t9tXvY1u5oQ=";
    site.0.site.write("users", &format!("anna:{hash}\nberta:{hash}\n"));
    let ask = |user: &str| {
        site.send(Request::get("/users/a").header("Authorization", user), "200|Cache-Control: max-age=60")
            .is(200)
            .text()
    };
    let (anna, berta) = ("Basic YW5uYTpwYXNz", "Basic YmVydGE6cGFzcw==");
    assert_eq!([ask(anna), ask(berta), ask(anna)], ["run 1", "run 2", "run 3"]);
}

/// A reload drops stored responses, so the new access rules cover them.
#[test]
fn a_reload_begins_with_an_empty_cache_and_todays_rules() {
    let site = serve("");
    assert!(site.keeps("/a", PUBLIC));
    let conf = site.0.site.read("site.conf");
    site.0.site.write("site.conf", &format!("{conf}\n<Location /b>\nDeny from all\n</Location>\n"));
    assert_eq!(site.0.reload().code, 0);
    assert_eq!(site.ask("/a", PUBLIC).text(), "run 2");
    site.ask("/b", PUBLIC).is(403);
}

const GATE: &str = "package Gate;\nuse Apache::Constants qw(:common);\n\
    sub handler { my $r = shift; $r->header_in('X-Key') ? OK : FORBIDDEN }\n\
    sub page { my $r = shift; my $dir = $r->dir_config('Dir'); open my $f, '>>', \"$dir/runs\" or die $!; syswrite $f, \"x\\n\"; close $f;\n\
    $r->header_out('Cache-Control' => 'public, max-age=60'); $r->send_http_header('text/plain'); $r->print('seen ' . -s \"$dir/runs\"); OK }\n1;\n";

#[test]
fn responses_are_not_stored_where_perl_decides_access() {
    for phase in ["PerlAccessHandler", "PerlAuthenHandler", "PerlHeaderParserHandler", "PerlFixupHandler"] {
        let basic = if phase == "PerlAuthenHandler" { "AuthType Basic\nAuthName x\nRequire valid-user\n" } else { "" };
        let server = Site::new().file("lib/Gate.pm", GATE).file("runs", "").serve(&format!(
            "PerlLib lib\nPerlModule Gate\nPerlSetVar Dir @DIR@\nCacheEnable memory /\nCacheHeader On\nCustomLog cache.log %{{cache-status}}e\n<Location />\nSetHandler perl-script\n\
             PerlHandler Gate::page\n{basic}{phase} Gate\n</Location>"
        ));
        let allowed = || Request::get("/a").header("X-Key", "1").header("Authorization", "Basic YTpi");
        let first = server.send(allowed()).is(200);
        let second = server.send(allowed()).is(200);
        assert_eq!(
            (first.text().as_str(), second.text().as_str(), second.header("x-cache")),
            ("seen 2", "seen 4", None),
            "{phase}"
        );
        let stranger = server.send(Request::get("/a").header("Authorization", "Basic YTpi"));
        until("the log says why", || {
            server.site.read("cache.log").contains("Perl handlers of earlier phases control access")
        });
        assert_eq!(stranger.status, 403, "{phase}: {stranger:?}");
    }
}

/// The same handler is cached when no Perl phase runs before it.
#[test]
fn responses_of_a_handler_are_stored_like_those_of_an_application() {
    let server = Site::new().file("lib/Gate.pm", GATE).file("runs", "").serve(
        "PerlLib lib\nPerlModule Gate\nPerlSetVar Dir @DIR@\n<Location />\nSetHandler perl-script\n\
         PerlHandler Gate::page\nCacheEnable memory\n</Location>",
    );
    assert_eq!([server.text("/a"), server.text("/a")], ["seen 2", "seen 2"]);
    let cgi = Site::new()
        .script("cgi/a.cgi", "#!/usr/bin/perl\nopen my $f, '>>', '@DIR@/runs'; syswrite $f, \"x\\n\"; close $f; print \"Cache-Control: max-age=60\\n\\nseen \", -s '@DIR@/runs';")
        .serve("ScriptAlias /cgi/ \"@DIR@/cgi/\"\nCacheEnable socache /cgi/");
    assert_eq!([cgi.text("/cgi/a.cgi"), cgi.text("/cgi/a.cgi")], ["seen 2", "seen 2"]);
}

#[test]
fn cache_disable_excludes_a_location() {
    let site = serve_with(
        "CacheEnable memory /on",
        "CacheDisable /on/not\n<Location /on/never>\nCacheDisable On\n</Location>\n<Location /on/never/but>\nCacheEnable memory\n</Location>",
    );
    for (target, kept) in [
        ("/on", true),
        ("/on/a", true),
        ("/one", false),
        ("/on/not", false),
        ("/on/nothing", false),
        ("/on/never/a", false),
        ("/on/never/but", true),
        ("/", false),
    ] {
        assert_eq!(site.keeps(target, PUBLIC), kept, "{target}");
    }
}
