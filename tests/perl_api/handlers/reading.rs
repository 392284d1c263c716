//! Methods of `$r` that read the request: a table of expressions.

use super::{conf, site};
use crate::support::Request;

/// Pairs of an expression and its value in the request of [`ask`].
const CASES: &[(&str, &str)] = &[
    // The request line.
    ("$r->method", "POST"),
    ("$r->method_number", "2"),
    ("$r->the_request", "POST /my/CASE?a=1&b=2%20c&a=3 HTTP/1.1"),
    ("$r->protocol", "HTTP/1.1"),
    ("$r->uri", "/my/CASE"),
    ("$r->path_info", "/CASE"),
    ("$r->header_only ? 1 : 0", "0"),
    ("$r->proxyreq ? 1 : 0", "0"),
    ("$r->request_time > 1_600_000_000 ? 1 : 0", "1"),
    ("$r->hostname", "localhost"),
    // The query, in scalar and list context.
    ("scalar $r->args", "a=1&b=2%20c&a=3"),
    ("$r->args", "a|1|b|2 c|a|3"),
    ("$r->query_string", "a=1&b=2%20c&a=3"),
    // The body, in scalar and list context.
    ("scalar $r->content", "x=y+z&w=%21"),
    ("$r->content", "x|y z|w|!"),
    ("do { $r->read(my $b, 5); $r->read(my $c, 100); ($b, $c) }", "x=y+z|&w=%21"),
    ("do { $r->read(my $b, 3, 2); length $b }", "5"),
    ("do { read STDIN, my $b, 100; $b }", "x=y+z&w=%21"),
    ("do { my $b = ''; $r->get_client_block($b, 4); $b }", "x=y+"),
    // Headers, in scalar and list context and as a table.
    ("$r->header_in('X-Test')", "value"),
    ("$r->headers_in->{'x-test'}", "value"),
    ("$r->headers_in->get('X-TEST')", "value"),
    ("do { my @m = $r->headers_in->get('X-Many'); @m }", "one, two"),
    ("do { my %h = $r->headers_in; $h{'X-Test'} || $h{'x-test'} }", "value"),
    ("scalar(grep { lc eq 'x-many' } keys %{ $r->headers_in })", "1"),
    ("do { my $n = 0; $r->headers_in->do(sub { $n++ if lc $_[0] eq 'x-many'; 1 }); $n }", "1"),
    ("do { $r->headers_in->set('X-New', 5); $r->header_in('x-new') }", "5"),
    ("do { $r->headers_in->unset('X-Test'); $r->header_in('X-Test') }", "(undef)"),
    ("do { $r->headers_in->add('X-Many', 'three'); my @m = $r->headers_in->get('X-Many'); scalar @m }", "2"),
    ("do { $r->headers_in->merge('X-Test', 'more'); $r->header_in('X-Test') }", "value, more"),
    ("exists $r->headers_in->{'X-None'} ? 1 : 0", "0"),
    ("ref $r->headers_in", "Apache::Table"),
    ("$r->as_string =~ /X-Test: value/i ? 1 : 0", "1"),
    // Files and locations.
    // The filename is the existing part of the path: Apache's directory walk stops there, and the rest is path_info.
    ("$r->filename", "@DIR@/htdocs/my"),
    ("$r->document_root", "@DIR@/htdocs"),
    ("$r->location", "/my"),
    ("$r->server_root_relative('logs/x')", "@DIR@/logs/x"),
    // The configuration.
    ("$r->dir_config('Colour')", "green"),
    ("scalar $r->dir_config->get('Colour')", "green"),
    ("$r->dir_config('Outer')", "server"),
    ("$r->dir_config('None')", "(undef)"),
    ("do { my @l = $r->dir_config->get('List'); @l }", "a|b"),
    ("$r->server->dir_config('Outer')", "server"),
    ("$r->subprocess_env('Set')", "by conf"),
    ("$ENV{Set}", "by conf"),
    ("$r->subprocess_env->{REQUEST_METHOD}", "POST"),
    ("do { $r->subprocess_env(Mine => 7); ($r->subprocess_env('Mine'), $r->subprocess_env->{Mine}) }", "7|7"),
    // Connection and server.
    ("$r->connection->remote_ip", "127.0.0.1"),
    ("$r->get_remote_host", "127.0.0.1"),
    ("$r->connection->remote_host || ''", ""),
    ("$r->connection->user", "(undef)"),
    ("$r->connection->auth_type", "(undef)"),
    ("$r->connection->aborted ? 1 : 0", "0"),
    ("do { $r->connection->user('ana'); $r->connection->user }", "ana"),
    ("ref $r->connection", "Apache::Connection"),
    (
        "do { require Socket; my ($p, $a) = Socket::unpack_sockaddr_in($r->connection->remote_addr); Socket::inet_ntoa($a) }",
        "127.0.0.1",
    ),
    ("do { require Socket; my ($p, $a) = Socket::unpack_sockaddr_in($r->connection->local_addr); $p }", "@PORT@"),
    ("$r->server->server_hostname", "localhost"),
    ("$r->server->server_admin", "admin@example.org"),
    ("$r->server->port", "@PORT@"),
    ("$r->server->is_virtual ? 1 : 0", "0"),
    ("ref $r->server", "Apache::Server"),
    ("$r->get_server_port", "@PORT@"),
    ("$r->get_server_name", "localhost"),
    // Methods of notes.
    ("do { $r->notes(a => 1); ($r->notes('a'), $r->notes->{a}, $r->notes('b')) }", "1|1|(undef)"),
    ("do { $r->pnotes(list => [1, 2]); $r->pnotes('list')->[1] }", "2"),
    ("do { $r->pnotes(k => { a => 5 }); $r->pnotes->{k}{a} }", "5"),
    // The object behind the handle.
    ("ref $r", "Apache"),
    ("Apache->request->uri", "/my/CASE"),
    ("ref(Apache->request)", "Apache"),
    ("$r->is_main ? 1 : 0", "1"),
    ("$r->is_initial_req ? 1 : 0", "1"),
    ("defined $r->main ? 1 : 0", "0"),
    ("defined $r->prev ? 1 : 0", "0"),
    ("defined $r->next ? 1 : 0", "0"),
    ("$r->status", "200"),
    ("$r->content_type", "text/plain"),
    ("eval { $r->no_such_method; 1 } ? 'lived' : $@ =~ /no_such_method/ ? 'named' : $@", "named"),
    ("$ENV{MOD_PERL}", "mod_perl/1.31"),
    ("$mod_perl::VERSION", "1.31"),
    ("Apache->can('request') ? 1 : 0", "1"),
    ("Apache->module('mod_perl.c') ? 1 : 0", "1"),
    ("Apache->define('NOTHING') ? 1 : 0", "0"),
    ("$Apache::Server::Starting ? 1 : 0", "0"),
    ("Apache::unescape_url('a%20b+c')", "a b+c"),
    ("Apache::unescape_url_info('a%20b+c')", "a b c"),
];

#[test]
fn every_method_returns_what_the_manual_promises() {
    let server = site(&module())
        .serve(&conf("PerlSetVar Colour green\nPerlSetVar List a\nPerlAddVar List b\nPerlSetEnv Set \"by conf\""));
    let mut wrong = Vec::new();
    for (number, (expression, expected)) in CASES.iter().enumerate() {
        let body = server.send(ask(number));
        let expected = server.site.filled(expected).replace("CASE", &number.to_string());
        if (body.status, body.text()) != (200, expected.clone()) {
            wrong.push(format!("{expression}\n    is {} {:?}\n    not {expected:?}", body.status, body.text()));
        }
    }
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

fn ask(number: usize) -> Request {
    Request::post(&format!("/my/{number}?a=1&b=2%20c&a=3"), "x=y+z&w=%21")
        .header("X-Test", "value")
        .header("X-Many", "one")
        .header("X-Many", "two")
}

/// One anonymous sub for each case. Cases that need the body read it before the response begins.
fn module() -> String {
    let subs: String =
        CASES.iter().map(|(expression, _)| format!("    sub {{ my $r = shift; ({expression}) }},\n")).collect();
    format!(
        "my @cases = (\n{subs});\n\
         sub handler {{ my $r = shift; my ($n) = $r->uri =~ /(\\d+)\\z/; $r->content_type('text/plain');\n\
         my @said = eval {{ $cases[$n]->($r) }}; @said = (\"died: $@\") if $@;\n\
         $r->send_http_header; $r->print(join '|', map {{ defined $_ ? $_ : '(undef)' }} @said); OK }}"
    )
}
