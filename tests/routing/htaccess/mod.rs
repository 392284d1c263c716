//! `.htaccess` files: where they apply, how they merge, and how soon a change takes effect.

mod changes;
mod classes;
mod file_info;
mod merging;
mod mistakes;
mod patterns;
mod perl;
mod watching;

use crate::support::{Server, Site, until};

/// A handler that prints the variable `X` of its place, which `PerlSetVar X …` in any section or file sets.
const SHOW: &str = "package Show; use Apache::Constants 'OK';\n\
    sub handler { my $r = shift; $r->content_type('text/plain'); $r->send_http_header; $r->print(join '', $r->dir_config->get('X')); OK }\n\
    package Other; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('other'); 0 }\n1;\n";

/// Serves htdocs with one worker, AllowOverride All and `conf`. The handler `Show` runs where a `.htaccess` file sets
/// it.
#[track_caller]
fn serve(site: Site, conf: &str) -> Server {
    serve_allowing("All", site, conf)
}

#[track_caller]
fn serve_allowing(words: &str, site: Site, conf: &str) -> Server {
    site.file("lib/Show.pm", SHOW).serve(&format!(
        "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule Show\n\
         <Directory @DIR@/htdocs>\nAllowOverride {words}\nSetHandler perl-script\nPerlHandler Show\nPerlSetVar X conf\n</Directory>\n{conf}"
    ))
}

/// Waits until `target` is answered with 200 and `text`.
#[track_caller]
fn soon(server: &Server, target: &str, text: &str) {
    until(&format!("{target} is answered with {text:?}"), || {
        let response = server.get(target);
        response.status == 200 && response.text() == text
    });
}

/// Waits until `target` is answered with `status`.
#[track_caller]
fn soon_status(server: &Server, target: &str, status: u16) {
    until(&format!("{target} is answered with {status}"), || server.get(target).status == status);
}
