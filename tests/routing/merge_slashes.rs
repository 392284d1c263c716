//! Repeated slashes: mod/core.html#mergeslashes. Apache 1.3's `r->uri` preserves them.

use crate::support::{Server, Site, serve_echo_script as serve};

/// A site with a handler that prints its path, and a script that prints its PATH_INFO.
fn site(conf: &str) -> Server {
    Site::new()
        .script("cgi/go.pl", "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{SCRIPT_NAME} $ENV{PATH_INFO}\"")
        .file("htdocs/shut/a.txt", "a")
        .file("htdocs/open/a.txt", "a")
        .serve(&format!(
            "ScriptAlias /cgi/ \"@DIR@/cgi/\"\n<Perl>\nsub My::uri {{ my $r = shift; $r->send_http_header('text/plain');\n\
             $r->print(join ' ', $r->uri, $r->path_info); 0 }}\n</Perl>\n\
             <Location /perl>\nSetHandler perl-script\nPerlHandler My::uri\n</Location>\n\
             <Location /perl/shut>\nDeny from all\n</Location>\n<Location /shut>\nDeny from all\n</Location>\n{conf}"
        ))
}

#[test]
fn programs_see_the_slashes_that_a_client_wrote() {
    let server = site("");
    assert_eq!(server.text("/cgi/go.pl/http://x/y"), "/cgi/go.pl /http://x/y");
    assert_eq!(server.text("/cgi//go.pl//http://x"), "/cgi/go.pl //http://x");
    assert!(server.text("//perl//a/http://x").starts_with("//perl//a/http://x "));
    assert!(server.text("/perl/%2e/a//b").starts_with("/perl/a/b "), "a path that climbs has one form only");
}

#[test]
fn rules_and_files_have_one_path_whatever_the_slashes() {
    for conf in ["", "MergeSlashes Off"] {
        let server = site(conf);
        for path in
            ["/shut/a.txt", "//shut/a.txt", "/shut//a.txt", "//shut///a.txt", "/./shut//a.txt", "/open//..//shut/a.txt"]
        {
            assert_eq!(server.get(path).status, 403, "{conf} {path}");
        }
        for path in ["/perl//shut/x", "//perl/shut//x", "/perl///shut", "/perl/x//../shut"] {
            assert_eq!(server.get(path).status, 403, "{conf} {path}");
        }
        assert_eq!(server.text("//open///a.txt"), "a");
    }
}

/// With "MergeSlashes Off", sections for URL paths match repeated slashes; with On, the default, they do not.
#[test]
fn sections_see_repeated_slashes_only_where_they_are_not_merged() {
    let section = "<LocationMatch ^/open//>\nHeader set X-Seen yes\n</LocationMatch>\n<Location /open>\nHeader set X-Plain yes\n</Location>";
    for (merging, seen) in [("On", None), ("Off", Some("yes"))] {
        let server = serve(&format!("MergeSlashes {merging}\n{section}"));
        server.site.write("htdocs/open/a.txt", "a");
        let page = server.get("/open//a.txt").is(200);
        assert_eq!((page.header("x-seen").as_deref(), page.header("x-plain").as_deref()), (seen, Some("yes")));
        assert_eq!(server.get("/open/a.txt").is(200).header("x-seen"), None);
    }
}

/// Compiled scripts are stored by name: a client must not create further copies with other spellings.
#[test]
fn a_script_is_one_however_its_path_is_written() {
    let server = Site::new()
        .script("scripts/count.pl", "print \"Content-Type: text/plain\\n\\n\", ++$count;")
        .serve(crate::support::REGISTRY);
    let runs: Vec<String> = ["/perl/count.pl", "//perl/count.pl", "/perl///count.pl", "//perl//count.pl"]
        .map(|path| server.text(path))
        .into();
    assert_eq!(runs, ["1", "2", "3", "4"]);
}
