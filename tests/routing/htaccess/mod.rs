//! `.htaccess` files: where they are honoured, how they merge, and that a change of one is seen at once.

mod changes;
mod classes;
mod file_info;
mod merging;
mod mistakes;
mod patterns;
mod perl;
mod watching;

use crate::support::{Server, Site, until};

/// Prints the variable `X` of the place: `PerlSetVar X …` in any section or file shows up here.
const SHOW: &str = "package Show; use Apache::Constants 'OK';\n\
    sub handler { my $r = shift; $r->content_type('text/plain'); $r->send_http_header; $r->print(join '', $r->dir_config->get('X')); OK }\n\
    package Other; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('other'); 0 }\n1;\n";

/// Serves htdocs by `Show` wherever a `.htaccess` says so, with one worker, AllowOverride All and `conf`.
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

/// Waits, not for long, until `target` is answered with `text`.
#[track_caller]
fn soon(server: &Server, target: &str, text: &str) {
    until(&format!("{target} is answered with {text:?}"), || {
        let response = server.get(target);
        response.status == 200 && response.text() == text
    });
}

/// The same for a status.
#[track_caller]
fn soon_status(server: &Server, target: &str, status: u16) {
    until(&format!("{target} is answered with {status}"), || server.get(target).status == status);
}
