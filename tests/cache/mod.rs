//! Workers' answers that are kept in the front (RFC 9111): what is, for how long, for whom; what never is.

/// Who may come in is asked first, and what comes of it is for nobody else.
mod access;
/// How long an answer is fresh, and how old it is.
mod freshness;
/// By what an answer is found: what a stranger chooses does not change what others get.
mod keys;
/// One cache for HTTP/1 and HTTP/2, and for all threads.
mod protocols;
/// `cameleer purge`.
mod purge;
/// `X-Cache`, the log, and directives.
mod reports;
/// What requests ask of caches.
mod requests;
/// One request asks, others wait.
mod single_flight;
/// What is stale, and when it is given all the same.
mod stale;
/// What may be kept.
mod storing;
/// Conditions of clients, and those that a worker is asked with.
mod validation;

use crate::support::{Request, Response, Server, Site};

/// Answers as `X-Answer` says: a status, then headers, with `|` between them. Each run adds a line to `runs`, and its number
/// is the page. `X-Do` makes it do something else.
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

/// A site where everything may be kept, and lines of its own.
#[track_caller]
fn serve(conf: &str) -> Counting {
    serve_with("CacheEnable memory /\nCacheHeader On", conf)
}

/// The same with other lines in place of `CacheEnable`.
#[track_caller]
fn serve_with(enable: &str, conf: &str) -> Counting {
    let place = format!("<Location />\nPsgiApp app.psgi\n</Location>\n{enable}\n{conf}");
    let pool = "MaxClients 4\nMinSpareServers 4\nMaxSpareServers 4\nStartServers 4\n";
    Counting(Site::new().file("app.psgi", APP).file("runs", "").file("answer", "").serve(&format!("{pool}{place}")))
}

/// A site with four workers that count what they are asked.
struct Counting(Server);

impl Counting {
    /// Asks for an answer with these headers.
    #[track_caller]
    fn ask(&self, target: &str, answer: &str) -> Response {
        self.send(Request::get(target), answer)
    }

    /// Sends a request, which says with which headers it is to be answered.
    #[track_caller]
    fn send(&self, request: Request, answer: &str) -> Response {
        self.0.send(request.header("X-Answer", answer))
    }

    /// How often a worker was asked.
    fn runs(&self) -> usize {
        self.asked().len()
    }

    /// What workers were asked.
    fn asked(&self) -> Vec<String> {
        self.0.site.read("runs").lines().map(str::to_owned).collect()
    }

    /// What all requests are answered from now on, whatever they say.
    fn answers(&self, answer: &str) {
        self.0.site.write("answer", answer);
    }

    /// Asks twice; says whether the second answer was kept.
    #[track_caller]
    fn keeps(&self, target: &str, answer: &str) -> bool {
        let (first, before) = (self.ask(target, answer), self.runs());
        let second = self.ask(target, answer);
        let asked = self.runs() - before;
        assert_eq!((first.text() == second.text(), asked == 0), (asked == 0, asked == 0), "{first:?}\n{second:?}");
        asked == 0
    }

    /// Whether nothing at all is kept of an answer.
    #[track_caller]
    fn never_keeps(&self, target: &str, answer: &str) {
        assert!(!self.keeps(target, answer), "{target} {answer}");
    }
}
