//! Pools whose workers run an event loop (`PsgiMode event`).

mod blocked;
mod frameworks;
mod grown;
mod idle;
mod life;
mod limits;
mod messages;
mod mojolicious;
mod mojolicious_websocket;
mod origin;
mod pagi;
mod pagi_life;
mod pagi_websocket;
mod psgi;
mod psgi_errors;
mod psgi_socket;
mod start;
mod watched;
mod websocket_abuse;
mod websocket_http2;

use crate::support::{Server, Site};

/// An application of Mojolicious with what needs an event loop. Requests wait for files, so that tests decide when they
/// go on.
const APP: &str = r#"#!/usr/bin/perl
use Mojolicious::Lite -signatures;
use Mojo::Promise;
use POSIX ();

sub after ($file, $then) {
    my $id;
    $id = Mojo::IOLoop->recurring(0.01 => sub { return unless -e "@DIR@/$file"; Mojo::IOLoop->remove($id); $then->() });
}
sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log "$text\n"; close $log }

get '/' => { text => 'hello' };
get '/pid' => sub ($c) { $c->render(text => $$) };
get '/template' => 'index';
post '/body' => sub ($c) { $c->render(text => length($c->req->body) . ' ' . $c->param('name')) };
get '/wait/:file' => sub ($c) {
    $c->inactivity_timeout(0)->render_later;
    $c->tx->on(finish => sub { note('left ' . $c->param('file')) unless $c->res->code });
    note('waits ' . $c->param('file'));
    after($c->param('file') => sub { $c->render(text => "$$ waited") if $c->tx });
};
get '/timer' => sub ($c) { $c->render_later; Mojo::IOLoop->timer(0.02 => sub { $c->render(text => 'timed') }) };
get '/promise' => sub ($c) {
    $c->render_later;
    Mojo::Promise->timer(0.01)->then(sub { 'kept' })->then(sub ($text) { $c->render(text => $text) });
};
sub until_there ($file) {
    note("blocks $file");
    1 until -e "@DIR@/$file"; # blocks
}
get '/block/:file' => sub ($c) { until_there($c->param('file')); $c->render(text => "$$ blocked") };
get '/later/:file' => sub ($c) { $c->render_later; Mojo::IOLoop->timer(0.01 => sub { until_there($c->param('file')); $c->render(text => "$$ blocked") }) };
get '/stubborn' => sub ($c) { note('blocks'); while (1) { eval { 1 while 1 } } };
get '/sleep' => sub ($c) { note('blocks'); sleep 1000; $c->render(text => 'slept') };
my @grown;
get '/grow' => sub ($c) { push @grown, 'x' x 20_000_000; $c->render(text => $$) };
get '/exit' => sub ($c) { exit 3 };
get '/subprocess' => sub ($c) {
    $c->render_later;
    Mojo::IOLoop->subprocess->run_p(sub { $$ })->then(sub ($pid) { $c->render(text => $pid == $$ ? 'same' : 'other') });
};
get '/child/:file' => sub ($c) {
    $c->render_later;
    return if fork;
    note("child $$");
    select undef, undef, undef, 0.01 until -e "@DIR@/" . $c->param('file');
    POSIX::_exit(0);
};
get '/chunks' => sub ($c) {
    my $n = 0;
    my $next;
    $next = sub ($c, @) { ++$n > 100 ? $c->finish : $c->write_chunk(('x' x 20_000) => $next) };
    $next->($c);
};
get '/events' => sub ($c) {
    $c->inactivity_timeout(0)->res->headers->content_type('text/event-stream');
    my $n = 0;
    my $send;
    $send = sub { $n++; $c->write("data: $n\n\n"); $n < 3 ? after("go$n" => $send) : $c->finish };
    $send->();
};
get '/facts' => sub ($c) {
    my $req = $c->req;
    $c->render(json => {
        address => $c->tx->remote_address, port => $c->tx->remote_port, scheme => $req->url->to_abs->scheme,
        server => $c->tx->local_port, id => $req->request_id, user => $req->env->{REMOTE_USER}, url => $c->url_for('/pid')->to_string,
        fields => [ grep {/cameleer/i} @{ $req->headers->names } ],
    });
};
websocket '/echo' => sub ($c) {
    $c->inactivity_timeout(0);
    $c->on(message => sub ($c, $text) { $c->send("echo: $text") });
    $c->on(finish => sub ($c, $code, $reason) { note("closed $code") });
};
app->start;
__DATA__
@@ index.html.ep
A template
"#;

/// Serves the application in one worker, with these directives.
#[track_caller]
fn serve_with(directives: &str) -> Server {
    Site::new().file("app.pl", APP).serve(&format!(
        "PsgiMode event\nStartServers 1\n{directives}<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n"
    ))
}

#[track_caller]
fn serve() -> Server {
    serve_with("")
}

/// Whether the application has noted this line.
fn noted(server: &Server, line: &str) -> bool {
    server.site.has("noted") && server.site.read("noted").lines().any(|noted| noted == line)
}
