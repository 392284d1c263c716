//! Profiles of running servers: the Perl code in which requests spend their time, and the causes of slow requests.

mod damaged;
mod exact;
mod recording;
mod slow_log;

use std::thread::{Scope, ScopedJoinHandle};

use crate::support::{Response, Server, Site};

/// An application whose requests stay in one place until the file `go` exists.
const APP: &str = "use DBI; use Time::HiRes; use List::Util;\n\
    package My::Page;\n\
    sub gone { -e '@DIR@/go' }\n\
    sub works { 1 until gone() }\n\
    sub waits { until (gone()) { select undef, undef, undef, 0.2 } }\n\
    sub sleeps { until (gone()) { Time::HiRes::usleep(200_000) } }\n\
    sub asks { my $dbh = DBI->connect('dbi:SQLite:dbname=:memory:', '', '', {RaiseError => 1});\n\
    my $sum = 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) select sum(x) from c';\n\
    until (gone()) { my $asked = $dbh->prepare($sum); $asked->execute } }\n\
    sub selects { my $dbh = DBI->connect('dbi:SQLite:dbname=:memory:', '', '', {RaiseError => 1});\n\
    my $sum = 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 300000) select sum(x) from c';\n\
    until (gone()) { $dbh->selectall_arrayref($sum) } }\n\
    sub within { List::Util::first { waits() } 1 }\n\
    sub text { eval q{waits()} }\n\
    sub file { do '@DIR@/file.pl' }\n\
    our $SLEPT; sub slept { my $began = Time::HiRes::time(); sleep 2; $SLEPT = Time::HiRes::time() - $began > 1.99 ? 'slept' : 'cut short' }\n\
    sub deep { $_[0] ? deep($_[0] - 1) : waits() }\n\
    sub { my ($sub, $n) = $_[0]{PATH_INFO} =~ m{^/(\\w+)/?(\\d*)}; my $code = My::Page->can($sub);\n\
    no warnings 'recursion'; $code->($n) if $code; [200, [], [$SLEPT || 'done']] }\n";

fn site() -> Site {
    let site = Site::new();
    let app = site.filled(APP);
    site.file("app.psgi", &app).file("file.pl", "My::Page::waits();\n1;\n")
}

/// A server that starts with one worker. `more` is further configuration.
fn serve(more: &str) -> Server {
    site().serve(&format!(
        "StartServers 1\nMinSpareServers 1\nMaxSpareServers 2\nMaxClients 4\n{more}\n<Location />\nPsgiApp app.psgi\n</Location>"
    ))
}

/// Sends a request that is in progress until [`release`].
fn held<'a>(scope: &'a Scope<'a, '_>, server: &'a Server, target: &'a str) -> ScopedJoinHandle<'a, Response> {
    let client = scope.spawn(move || server.get(target));
    let path = target.split('?').next().unwrap_or_default();
    crate::support::until("a worker has it", || {
        let status = server.status();
        let workers = status["front"]["workers"].as_array().cloned().unwrap_or_default();
        workers.iter().any(|worker| worker["request"].as_str().is_some_and(|request| request.ends_with(path)))
    });
    client
}

fn release(server: &Server) {
    server.site.write("go", "");
}
