//! HTTP/2, over TLS and over cleartext.

mod bytes;
mod clients;
mod conformance;
mod floods;
mod large;
mod life;
mod long_connections;
pub mod raw;
mod requests;

use std::process::Command;

use crate::support::{Finished, Server, Site};

/// An application for two workers; `/slow` waits until `go` exists, and appends to `begun` when it starts.
const APP: &str = r#"use v5.36;
sub ($env) {
    my $path = $env->{PATH_INFO};
    if ($path =~ m{^/slow}) {
        open my $log, '>>', '@DIR@/begun' or die; print $log "$path\n"; close $log;
        select undef, undef, undef, 0.01 until -e '@DIR@/go';
    }
    if ($path eq '/die') {
        return sub ($respond) {
            my $out = $respond->([200, ['Content-Type', 'text/plain']]);
            $out->write('x' x 100_000);
            die "in the middle\n";
        };
    }
    return [200, ['Content-Type', 'text/plain'], ['x' x $1]] if $path =~ m{^/bytes/(\d+)};
    $env->{'psgi.input'}->read(my $body, 10_000_000);
    my @said = map { $env->{$_} // '-' } qw(REQUEST_METHOD SERVER_PROTOCOL psgi.url_scheme HTTP_HOST HTTP_COOKIE REQUEST_URI);
    return [200, ['Content-Type', 'text/plain', 'Connection', 'close'], ["@said ", length($body // '')]];
}
"#;

/// Serves [`APP`] without TLS.
#[track_caller]
fn serve(conf: &str) -> Server {
    site().serve(&format!("Protocols h2c http/1.1\n<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

/// Serves [`APP`] over TLS.
#[track_caller]
fn serve_tls(conf: &str) -> Server {
    site().serve(&format!(
        "Protocols h2 http/1.1\nSSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n\
         <Location />\nPsgiApp app.psgi\n</Location>\n{conf}"
    ))
}

fn site() -> Site {
    Site::new().certificate("localhost", &["localhost"]).file("app.psgi", APP)
}

/// Runs curl; `@PORT@` and `@DIR@` in the arguments are replaced.
pub fn curl(server: &Server, arguments: &[&str]) -> Finished {
    let filled = arguments.iter().map(|argument| server.site.filled(argument));
    let trust = server.site.filled("@DIR@/localhost.crt");
    Finished::of(Command::new("curl").args(["-sS", "--noproxy", "*", "--cacert", &trust]).args(filled))
}
