//! `cameleer explain`

use crate::support::Site;

const CONF: &str = "Include base.conf\nOptions -Indexes\n<IfModule mod_perl.c>\nPerlSetVar Outer 1\n</IfModule>\n\
    NameVirtualHost *\n<VirtualHost *>\nServerName shop.example\nDocumentRoot htdocs\nRedirect /old http://new.example\n\
    CustomLog access.log combined\nProxyPass /app/ http://127.0.0.1:81/a/\nProxyPass /other/ http://127.0.0.1:82/\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
    <Location /shop>\nSetHandler perl-script\nPerlHandler My::Shop\nRequestTimeout 3s\n</Location>\n\
    <Location /closed>\nOrder deny,allow\nDeny from all\nPerlAccessHandler My::Access\nSetHandler perl-script\nPerlHandler My::Shop\n\
    </Location>\n</VirtualHost>\n";

fn explained(url: &str) -> String {
    let site =
        Site::new().file("htdocs/.htaccess", "# a comment\n\nAddType text/x-foo .foo\n").file("htdocs/a.txt", "");
    let conf = site.filled(CONF);
    site.write("site.conf", &conf);
    let said = site.cameleer(["explain", "-f", "site.conf", "get", url]).succeeded().out;
    said.replace(&site.folder().display().to_string(), "")
}

#[track_caller]
fn says(said: &str, line: &str) {
    let squeezed: Vec<String> = said.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(squeezed.iter().any(|known| known == line), "{line}\n--- is not in\n{said}");
}

#[test]
fn the_handler_and_its_lines_are_explained() {
    let said = explained("http://shop.example/shop/basket?id=1");
    assert!(said.starts_with("GET shop.example/shop/basket\n"), "{said}");
    says(&said, "virtual host shop.example /site.conf:7");
    says(&said, "file /htdocs/shop/basket (does not exist)");
    says(&said, "answered by a worker, by My::Shop /site.conf:19");
    says(&said, "Handler worker: My::Shop");
    says(&said, "RequestTimeout 3 s");
    let at = |line: &str| said.find(line).unwrap_or_else(|| panic!("{line}: {said}"));
    let order = ["PerlSetVar Outer 1", "Redirect /old", "AllowOverride All", "RequestTimeout 3s", "3  AddType"];
    assert!(order.map(at).is_sorted_by(|a, b| a < b) || at("3  AddType") > at("AllowOverride All"), "{said}");
    assert!(
        !said.contains("PerlAccessHandler") && !said.contains("PidFile"),
        "what does not apply is not shown: {said}"
    );
}

#[test]
fn phases_of_the_front_are_explained() {
    let said = explained("http://shop.example/a.txt");
    says(&said, "answered by the front: a file");
    says(&said, "file /htdocs/a.txt (exists)");
    says(&said, "AccessHandler front: no Order, Allow or Deny");
    says(&said, "LogHandler front: access logs: 1");
    says(&said, "3 AddType text/x-foo .foo");
}

#[test]
fn a_redirect_answers_before_all_else() {
    says(
        &explained("http://shop.example/old/page"),
        "answered by the front: 302 to http://new.example/page /site.conf:10",
    );
}

#[test]
fn perl_code_in_a_phase_moves_all_phases_to_the_worker() {
    let said = explained("http://shop.example/closed");
    says(&said, "phases all in a worker: a phase before the response has Perl code");
    says(&said, "AccessHandler worker: Order, Allow and Deny; worker: My::Access");
}

#[test]
fn explain_names_the_status_of_a_request_refused_before_any_phase() {
    says(&explained("http://shop.example/.htaccess"), "answered by the front, with 403");
    assert_eq!(explained("/%zz"), "GET /%zz: refused with 400 before any phase\n");
}

#[test]
fn explain_takes_paths_and_urls() {
    let site = Site::new();
    site.configure("");
    site.cameleer(["explain", "-f", "site.conf", "GET", "page"]).failed(2, "expected a path that begins with /");
    site.cameleer(["explain", "-f", "none.conf", "GET", "/"]).failed(78, "none.conf");
    says(&site.cameleer(["explain", "-f", "site.conf", "GET", "http://x"]).succeeded().out, "GET x/");
}

#[test]
fn a_path_of_a_backend_has_no_file() {
    let said = explained("http://shop.example/app/x");
    says(&said, "file none: a backend answers");
    says(&said, "answered by the backend http://127.0.0.1:81/a/x /site.conf:12");
}

#[test]
fn rewrite_rules_are_explained_one_by_one() {
    let site = Site::new()
        .file("htdocs/wiki/.htaccess", "RewriteEngine On\nRewriteRule ^Page$ index.txt?p=1\n")
        .file("htdocs/wiki/index.txt", "");
    site.configure(
        "<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\nRewriteEngine On\n\
         RewriteCond %{QUERY_STRING} ^x\nRewriteRule ^/old$ http://new.example/ [R=301]\nRewriteRule ^/w/(.*)$ /wiki/$1 [PT]\n",
    );
    let explained = |url: &str| {
        let said = site.cameleer(["explain", "-f", "site.conf", "get", url]).succeeded().out;
        said.replace(&site.folder().display().to_string(), "")
    };
    let said = explained("/old?x");
    says(&said, "RewriteCond: input='x' pattern='^x' => matched");
    says(&said, "redirect to http://new.example/?x [REDIRECT/301]");
    let said = explained("/w/Page");
    says(&said, "applying pattern '^/w/(.*)$' to uri '/w/Page' (/site.conf:8)");
    says(&said, "rewrite '/w/Page' -> '/wiki/Page'");
    says(&said, "[perdir /htdocs/wiki/] applying pattern '^Page$' to uri 'Page' (/htdocs/wiki/.htaccess:2)");
    says(&said, "internal redirect with /wiki/index.txt [INTERNAL REDIRECT]");
    says(&explained("/wiki/other"), "pass through /wiki/other");
}
