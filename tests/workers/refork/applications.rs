//! Frameworks that load and compile at their first request: after five reforks under load, workers share that memory.
//!
//! Each application serves the same paths: `/item/NAME` by a template, `/visits` by a session, and nothing at `/none`.

use super::{pids, reforks};
use crate::support::{Load, Request, Response, Server, Site, own_memory, until};

const WORKERS: usize = 3;
const REFORKS: u64 = 5;
const REQUESTS: u64 = 20;
/// A refork must reduce a worker's own memory to less than one part in this number.
const PART: u64 = 3;

const MOJOLICIOUS: &str = r#"use Mojolicious::Lite -signatures;
app->secrets(['a secret of this test'])->mode('production');
get '/item/:name' => sub ($c) { $c->render( template => 'item' ) };
get '/visits'     => sub ($c) {
    my $visits = $c->session( visits => ( $c->session('visits') // 0 ) + 1 )->session('visits');
    $c->render( template => 'visits', visits => $visits );
};
app->start;
__DATA__
@@ item.html.ep
% layout 'page', title => 'Item';
<p>Item <%= param 'name' %>.</p>
@@ visits.html.ep
% layout 'page', title => 'Visits';
<p>visits=<%= $visits %></p>
@@ layouts/page.html.ep
<!DOCTYPE html>
<html><head><title><%= title %></title></head><body><%= content %></body></html>
"#;

const CATALYST: &str = r"package Shop;
use v5.36;
use Catalyst qw(Session Session::State::Cookie Session::Store::FastMmap);
__PACKAGE__->config( name => 'Shop', 'Plugin::Session' => { storage => '@DIR@/sessions', unlink_on_exit => 0 } );
__PACKAGE__->setup;
1;
";
const CATALYST_CONTROLLER: &str = r#"package Shop::Controller::Root;
use Moose;
BEGIN { extends 'Catalyst::Controller' }
__PACKAGE__->config( namespace => '' );
sub item : Local : Args(1) { $_[1]->forward('View::Page', ["Item $_[2]."]) }
sub visits : Local : Args(0) { $_[1]->forward('View::Page', ['visits=' . ++$_[1]->session->{visits}]) }
sub default : Path { $_[1]->res->status(404); $_[1]->res->body('nothing') }
1;
"#;
const CATALYST_VIEW: &str = r#"package Shop::View::Page;
use Moose;
extends 'Catalyst::View';
sub process { my ( $self, $c, $text ) = @_; require Template; my $page = '<p>[% text | html %]</p>';
    ( $self->{template} ||= Template->new )->process( \$page, { text => $text }, \my $body ) or die; $c->res->body($body) }
1;
"#;

const MASON: &[(&str, &str)] = &[
    (
        "htdocs/autohandler",
        "<!DOCTYPE html>\n<title><% $m->request_comp->attr('title') |h %></title>\n% $m->call_next(%ARGS);\n\
         <%init>\n$r->content_type('text/html; charset=utf-8');\n</%init>\n<%attr>\ntitle => 'Item'\n</%attr>\n",
    ),
    ("htdocs/item/dhandler", "<& line.comp, text => 'Item ' . $m->dhandler_arg . '.' &>\n"),
    ("htdocs/item/line.comp", "<%args>\n$text\n</%args>\n<p><% $text |h %></p>\n"),
    (
        "htdocs/visits",
        "<p>visits=<% ++$session{visits} %></p>\n<%attr>\ntitle => 'Visits'\n</%attr>\n<%init>\nuse Apache::Cookie;\n\
         use Apache::Session::File;\nmy $cookie = ( Apache::Cookie->fetch || {} )->{id};\n\
         tie my %session, 'Apache::Session::File', $cookie && $cookie->value, { Directory => '@DIR@/tmp', LockDirectory => '@DIR@/tmp' };\n\
         $r->headers_out->set('Set-Cookie', \"id=$session{_session_id}; path=/\");\n</%init>\n",
    ),
];

fn is_item(response: &Response) -> bool {
    response.status == 200 && response.text().contains("<p>Item pen.</p>")
}

#[track_caller]
fn serve(site: Site, conf: &str) -> Server {
    site.serve(&format!(
        "StartServers {WORKERS}\nMinSpareServers {WORKERS}\nMaxSpareServers {WORKERS}\nMaxClients {WORKERS}\n\
         <Location />\n{conf}\n</Location>"
    ))
}

/// Serves a PSGI application that is loaded by the first request.
#[track_caller]
fn serve_psgi(site: Site, load: &str) -> Server {
    let app = format!("my $app; sub {{ $app ||= do {{ {load} }}; $app->(@_) }}");
    serve(site.file("app.psgi", &app), "PsgiApp app.psgi")
}

/// Sends requests until every worker has had [`REQUESTS`]. Returns each worker's own memory in bytes.
#[track_caller]
fn memory_of_asked_workers(server: &Server) -> Vec<u64> {
    let load = Load::start(server, WORKERS, "/item/pen", is_item);
    until("every worker has answered", || {
        let status = server.status();
        let workers = status["front"]["workers"].as_array().expect("a list");
        workers.len() == WORKERS && workers.iter().all(|worker| worker["requests"].as_u64() >= Some(REQUESTS))
    });
    assert_eq!(load.failures(), Vec::<String>::new());
    server.until_idle(WORKERS);
    pids(server).into_iter().map(own_memory).collect()
}

/// Sends a request with the session's cookie. Returns the number of visits in this session.
fn visit(server: &Server, cookie: &mut String) -> String {
    let response = server.send(Request::get("/visits").header("Cookie", cookie)).is(200);
    if let Some(set) = response.header("Set-Cookie") {
        *cookie = set.split(';').next().unwrap_or_default().to_owned();
    }
    response.text()
}

#[track_caller]
fn five_reforks_under_load(server: &Server) {
    let pages = || ["/item/pen", "/item/a%20%3Cb%3E"].map(|target| server.text(target));
    let first = memory_of_asked_workers(server);
    let before = pages();
    assert!(before[1].contains("<p>Item a &lt;b&gt;.</p>"), "{before:?}");
    let mut cookie = String::new();
    let load = Load::start(server, WORKERS, "/item/pen", is_item);
    for refork in 1..=REFORKS {
        load.until_answered(REQUESTS);
        let visits = visit(server, &mut cookie);
        assert!(visits.contains(&format!("<p>visits={refork}</p>")), "{visits}");
        server.control(["refork"]).succeeded();
        assert_eq!(reforks(server), refork);
        assert_eq!(pages(), before);
        server.get("/none").is(404);
    }
    assert_eq!(load.failures(), Vec::<String>::new());
    let last = memory_of_asked_workers(server);
    let (least, most) = (first.iter().min().expect("workers"), last.iter().max().expect("workers"));
    assert!(most * PART < *least, "private memory before: {first:?}, after: {last:?}");
}

#[test]
fn a_mojolicious_application() {
    let site = Site::new().file("mojo.pl", MOJOLICIOUS);
    five_reforks_under_load(&serve_psgi(site, "require Plack::Util; Plack::Util::load_psgi('@DIR@/mojo.pl')"));
}

/// The workers load the application one after the other: a half-made file of Cache::FastMmap is created again by the
/// next worker.
#[test]
fn a_catalyst_application() {
    let files = [
        ("lib/Shop.pm", CATALYST),
        ("lib/Shop/Controller/Root.pm", CATALYST_CONTROLLER),
        ("lib/Shop/View/Page.pm", CATALYST_VIEW),
    ];
    let site = files.into_iter().fold(Site::new(), |site, (name, text)| site.file(name, text));
    let load = "open my $lock, '>', '@DIR@/lock' or die $!; flock $lock, 2 or die $!;
        unshift @INC, '@DIR@/lib'; require Shop; Shop->psgi_app";
    five_reforks_under_load(&serve_psgi(site, load));
}

#[test]
fn components_of_mason() {
    let site = MASON.iter().fold(Site::new(), |site, (name, text)| site.file(name, text));
    let conf = "SetHandler perl-script\nPerlHandler HTML::Mason::ApacheHandler\nPerlSetVar MasonArgsMethod mod_perl\n\
        PerlSetVar MasonCompRoot \"@DIR@/htdocs\"\nPerlSetVar MasonDataDir \"@DIR@/data\"";
    five_reforks_under_load(&serve(site, conf));
}
