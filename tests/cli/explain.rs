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
    let output = site.cameleer(["explain", "-f", "site.conf", "get", url]).succeeded().out;
    output.replace(&site.folder().display().to_string(), "")
}

#[track_caller]
fn has_line(output: &str, line: &str) {
    let squeezed: Vec<String> = output.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(squeezed.iter().any(|known| known == line), "{line}\n--- is not in\n{output}");
}

#[test]
fn the_handler_and_its_lines_are_explained() {
    let output = explained("http://shop.example/shop/basket?id=1");
    assert!(output.starts_with("GET shop.example/shop/basket\n"), "{output}");
    has_line(&output, "virtual host shop.example /site.conf:7");
    has_line(&output, "file /htdocs/shop/basket (does not exist)");
    has_line(&output, "answered by a worker, by My::Shop /site.conf:19");
    has_line(&output, "Handler worker: My::Shop");
    has_line(&output, "RequestTimeout 3 s");
    let at = |line: &str| output.find(line).unwrap_or_else(|| panic!("{line}: {output}"));
    let order = ["PerlSetVar Outer 1", "Redirect /old", "AllowOverride All", "RequestTimeout 3s", "3  AddType"];
    assert!(order.map(at).is_sorted_by(|a, b| a < b) || at("3  AddType") > at("AllowOverride All"), "{output}");
    assert!(
        !output.contains("PerlAccessHandler") && !output.contains("PidFile"),
        "what does not apply is not shown: {output}"
    );
}

#[test]
fn phases_of_the_front_are_explained() {
    let output = explained("http://shop.example/a.txt");
    has_line(&output, "answered by the front: a file");
    has_line(&output, "file /htdocs/a.txt (exists)");
    has_line(&output, "AccessHandler front: no Order, Allow or Deny");
    has_line(&output, "LogHandler front: access logs: 1");
    has_line(&output, "3 AddType text/x-foo .foo");
}

#[test]
fn a_redirect_answers_before_all_else() {
    has_line(
        &explained("http://shop.example/old/page"),
        "answered by the front: 302 to http://new.example/page /site.conf:10",
    );
}

#[test]
fn perl_code_in_a_phase_moves_all_phases_to_the_worker() {
    let output = explained("http://shop.example/closed");
    has_line(&output, "phases all in a worker: a phase before the response has Perl code");
    has_line(&output, "AccessHandler worker: Order, Allow and Deny; worker: My::Access");
}

#[test]
fn explain_names_the_status_of_a_request_refused_before_any_phase() {
    has_line(&explained("http://shop.example/.htaccess"), "answered by the front, with 403");
    assert_eq!(explained("/%zz"), "GET /%zz: refused with 400 before any phase\n");
}

#[test]
fn explain_takes_paths_and_urls() {
    let site = Site::new();
    site.configure("");
    site.cameleer(["explain", "-f", "site.conf", "GET", "page"]).failed(2, "expected a path that begins with /");
    for (method, url, why) in [
        ("GE T", "/", "expected a method, such as GET"),
        ("GET", "/a\u{7}b", "is not allowed in a URL; write %07"),
        ("GET", "http://user:secret@shop.example/", "has a user before the host, which no client sends"),
        ("GET", "gopher://shop.example/", "expected http:// or https://, got gopher://"),
        ("GET", "http://shop.example:123456/", "expected a port from 1 to 65535"),
    ] {
        site.cameleer(["explain", "-f", "site.conf", method, url]).failed(2, why);
    }
    site.cameleer(["explain", "-f", "none.conf", "GET", "/"]).failed(78, "none.conf");
    has_line(&site.cameleer(["explain", "-f", "site.conf", "GET", "http://x"]).succeeded().out, "GET x/");
}

#[test]
fn a_path_of_a_backend_has_no_file() {
    let output = explained("http://shop.example/app/x");
    has_line(&output, "file none: a backend answers");
    has_line(&output, "answered by the backend http://127.0.0.1:81/a/x /site.conf:12");
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
        let output = site.cameleer(["explain", "-f", "site.conf", "get", url]).succeeded().out;
        output.replace(&site.folder().display().to_string(), "")
    };
    let output = explained("/old?x");
    has_line(&output, "RewriteCond: input='x' pattern='^x' => matched");
    has_line(&output, "redirect to http://new.example/?x [REDIRECT/301]");
    let output = explained("/w/Page");
    has_line(&output, "applying pattern '^/w/(.*)$' to uri '/w/Page' (/site.conf:8)");
    has_line(&output, "rewrite '/w/Page' -> '/wiki/Page'");
    has_line(&output, "[perdir /htdocs/wiki/] applying pattern '^Page$' to uri 'Page' (/htdocs/wiki/.htaccess:2)");
    has_line(&output, "internal redirect with /wiki/index.txt [INTERNAL REDIRECT]");
    has_line(&explained("/wiki/other"), "pass through /wiki/other");
}

#[test]
fn directives_with_many_lines_are_folded_unless_all_are_asked_for() {
    let site = Site::new();
    let icons: String = (0..60).map(|number| format!("AddIcon /icons/{number}.gif .x{number}\n")).collect();
    site.configure(&format!("\n{icons}ThreadLimit 64\nPerlSetVar One 1\nPerlSetVar Two 2\n"));
    let said = site.cameleer(["explain", "-f", "site.conf", "GET", "/"]).succeeded().out;
    assert!(said.contains("site.conf:2  AddIcon: 60 lines; explain --all lists them\n"), "{said}");
    assert_eq!(said.matches("AddIcon").count(), 1, "{said}");
    assert!(
        said.contains("PerlSetVar One 1") && said.contains("PerlSetVar Two 2") && !said.contains("ThreadLimit"),
        "{said}"
    );
    let all = site.cameleer(["explain", "--all", "-f", "site.conf", "GET", "/"]).succeeded().out;
    assert!(all.matches("AddIcon").count() == 60 && all.contains("ThreadLimit 64"), "{all}");
}
