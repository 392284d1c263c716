//! Variables of a request in `RewriteCond` and `RewriteRule`: mod/mod_rewrite.html.

use crate::support::Site;

/// The number is httpd's, which scripts for several servers compare.
#[test]
fn rules_know_the_version_of_ip_and_the_alias_of_the_path() {
    let site =
        Site::new().file("htdocs/there.txt", "there").file("htdocs/wiki/a.txt", "a").file("other/o.txt", "other");
    let server = site.serve(
        "Alias /other @DIR@/other\nRewriteEngine On\n\
         RewriteCond %{IPV6} =off\nRewriteCond %{API_VERSION} ^20120211:\\d+$\nRewriteCond %{CONN_REMOTE_ADDR} =127.0.0.1\n\
         RewriteRule ^/seen$ /there.txt\n\
         <Directory @DIR@/other>\nRewriteEngine On\n\
         RewriteRule ^p$ %{CONTEXT_PREFIX}/x [R]\nRewriteRule ^d$ /is?%{CONTEXT_DOCUMENT_ROOT} [R]\n</Directory>\n\
         <Directory @DIR@/htdocs/wiki>\nRewriteEngine On\nRewriteRule ^d$ /is?%{CONTEXT_PREFIX},%{CONTEXT_DOCUMENT_ROOT} [R]\n\
         </Directory>",
    );
    assert_eq!(server.text("/seen"), "there");
    let origin = "http://localhost";
    let to = |target: &str| server.get(target).is(302).header("Location").unwrap_or_default().replace(origin, "");
    let root = server.site.filled("@DIR@");
    assert_eq!(to("/other/p"), "/other/x");
    assert_eq!(to("/other/d"), format!("/is?{root}/other"));
    assert_eq!(to("/wiki/d"), format!("/is?,{root}/htdocs"));
}
