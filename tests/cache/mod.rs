//! The front's cache of workers' responses (RFC 9111): which responses are stored, for how long, and for which clients.

/// Access rules are checked before the cache, for each request; responses of locations where Perl code decides are not
/// stored.
mod access;
/// Freshness lifetime and age of a response.
mod freshness;
/// `Header` and `Header always`.
mod header_tables;
/// Cache keys: no part of a request changes another client's response.
mod keys;
/// One cache for HTTP/1 and HTTP/2, and for all threads.
mod protocols;
/// `cameleer purge`.
mod purge;
/// `X-Cache`, log variables, and directives.
mod reports;
/// Cache directives in requests.
mod requests;
/// One request goes to a worker; concurrent requests for the same response wait.
mod single_flight;
/// Stale responses, and when the cache may send them.
mod stale;
/// The responses that may be stored.
mod storing;
/// Conditional requests from clients, and to workers.
mod validation;

use crate::support::{Request, Response, Server, Site};

/// An application that answers with the status and headers in `X-Answer`, separated by `|`. Each run appends a line to
/// `runs`; the run's number is the body. `X-Do` selects another behaviour.
const APP: &str = r#"
use strict;
my $dir = '@DIR@';
# Two workers that run at once have two numbers.
sub run {
    open my $f, '+>>', "$dir/runs" or die $!;
    flock $f, 2 or die $!;
    syswrite $f, shift;
    seek $f, 0, 0;
    my @lines = <$f>;
    scalar @lines;
}
sub {
    my $env = shift;
    my $known = $env->{HTTP_IF_NONE_MATCH} // '';
    my $run = run("$env->{REQUEST_METHOD} $env->{REQUEST_URI} [$known] [" . ($env->{HTTP_IF_MODIFIED_SINCE} // '') . "]\n");
    my ($status, @fields) = split /\|/, -s "$dir/answer" ? do { open my $a, '<', "$dir/answer" or die $!; <$a> } : $env->{HTTP_X_ANSWER} // '200';
    my @headers = map { split /: /, $_, 2 } @fields;
    my $do = $env->{HTTP_X_DO} // '';
    if ($do eq 'wait') { select undef, undef, undef, 0.01 until -e "$dir/go" }
    if ($do eq 'die') { kill KILL => $$ }
    my %first = @headers;
    return [304, [map { ($_, $first{$_}) } grep { exists $first{$_} } qw(ETag Cache-Control Set-Cookie X-Own)], []]
        if $status == 200 && $known && ($first{ETag} // '') eq $known;
    my $body = "run $run" . ($do eq 'env' ? join '', map { "\n$_=" . ($env->{$_} // '') } qw(HTTP_HOST REQUEST_URI SERVER_NAME SERVER_PORT MOBILE HTTP_X_FORWARDED_HOST) : '');
    return [$status, [@headers, 'Content-Type' => 'text/plain'], [$body]] unless $do =~ /^(stream|cut|long|wait-stream)$/;
    return sub {
        my $writer = $_[0]->([$status, [@headers, 'Content-Type' => 'text/plain']]);
        $writer->write("$body\n");
        if ($do eq 'wait-stream') { select undef, undef, undef, 0.01 until -e "$dir/go" }
        if ($do eq 'cut') { select undef, undef, undef, 0.01 until -e "$dir/go"; kill KILL => $$ }
        $writer->write('x' x 65536) for 1 .. ($do eq 'long' ? 40 : 4);
        $writer->close;
    };
}
"#;

/// A site that caches every path and sends `X-Cache`, with `conf` appended.
#[track_caller]
fn serve(conf: &str) -> Counting {
    serve_with("CacheEnable memory /\nCacheHeader On", conf)
}

/// Like [`serve`], with `enable` in place of `CacheEnable` and `CacheHeader`.
#[track_caller]
fn serve_with(enable: &str, conf: &str) -> Counting {
    let place = format!("<Location />\nPsgiApp app.psgi\n</Location>\n{enable}\n{conf}");
    let pool = "MaxClients 4\nMinSpareServers 4\nMaxSpareServers 4\nStartServers 4\n";
    Counting(Site::new().file("app.psgi", APP).file("runs", "").file("answer", "").serve(&format!("{pool}{place}")))
}

/// A server with four workers that log each request they receive.
struct Counting(Server);

impl Counting {
    /// Sends a GET that the application answers with `answer`.
    #[track_caller]
    fn ask(&self, target: &str, answer: &str) -> Response {
        self.send(Request::get(target), answer)
    }

    /// Sends `request` with `answer` in `X-Answer`.
    #[track_caller]
    fn send(&self, request: Request, answer: &str) -> Response {
        self.0.send(request.header("X-Answer", answer))
    }

    /// Number of requests that workers have received.
    fn runs(&self) -> usize {
        self.requests().len()
    }

    /// The log lines of the requests that workers have received.
    fn requests(&self) -> Vec<String> {
        self.0.site.read("runs").lines().map(str::to_owned).collect()
    }

    /// Makes the application answer every request with `answer`, whatever its `X-Answer`.
    fn answers(&self, answer: &str) {
        self.0.site.write("answer", answer);
    }

    /// Sends the same GET twice; returns whether the second response came from the cache.
    #[track_caller]
    fn keeps(&self, target: &str, answer: &str) -> bool {
        let (first, before) = (self.ask(target, answer), self.runs());
        let second = self.ask(target, answer);
        let runs = self.runs() - before;
        assert_eq!((first.text() == second.text(), runs == 0), (runs == 0, runs == 0), "{first:?}\n{second:?}");
        runs == 0
    }

    /// Asserts that the response is not stored.
    #[track_caller]
    fn never_keeps(&self, target: &str, answer: &str) {
        assert!(!self.keeps(target, answer), "{target} {answer}");
    }
}
