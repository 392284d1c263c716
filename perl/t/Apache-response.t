# Output of a handler, and the response that the client gets.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %HANDLERS;

package My::Cases {
    sub handler ($r) { return $HANDLERS{ $r->path_info }->($r) }
}

%HANDLERS = (
    '/type'     => sub ($r) { $r->send_http_header('text/x-test'); $r->print( 'a', \'b', 1 ); 0 },
    '/implied'  => sub ($r) { $r->content_type('text/plain'); print 'stdout '; $r->print('and r'); 0 },
    '/status'   => sub ($r) { $r->status(404); $r->print('mine'); 0 },
    '/notfound' => sub ($r) { 404 },
    '/redirect' => sub ($r) { $r->header_out( Location => 'http://example.org/' ); 302 },
    '/cookies'  => sub ($r) { $r->headers_out->add( 'Set-Cookie' => [ 'a=1', 'b=2' ] ); $r->print('x'); 0 },
    '/split'    => sub ($r) { $r->header_out( X => "a\r\nSet-Cookie: b=c" ); $r->print('x'); 0 },
    '/die'      => sub ($r) { $r->print('lost'); die "the reason\n" },
    '/late'     => sub ($r) { $r->print( 'x' x 100_000 ); die "too late\n" },
    '/exit'     => sub ($r) { $r->print('before'); exit },
    '/long'     => sub ($r) { $r->print( 'y' x 100 ) for 1 .. 20_000; 0 },
    '/cgi'      => sub ($r) { $r->send_cgi_header("Status: 202 Fine\nContent-Type: text/x-cgi\n\nbody"); 0 },
    '/nocache'  => sub ($r) { $r->no_cache(1); $r->print('x'); 0 },
    '/empty'    => sub ($r) { 204 },
    '/system'   => sub ($r) { local $ENV{PATH} = '/usr/bin:/bin'; system 'printf child'; $r->print(' parent'); 0 },
);

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'END');
<Location /r>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
END

sub answer ($path) { return $server->get("/r/$path") }
sub shown  ($path) { my $a = answer($path); return join ' ', $a->{status}, $a->{headers}{'content-type'} // '', $a->{content} }

is shown('type'),    '200 text/x-test ab1',        'send_http_header with a type, print of a reference';
is shown('implied'), '200 text/plain stdout and r', 'no send_http_header: the head is implied; STDOUT and $r keep their order';
is shown('status'),  '404 text/html mine',         'a status and a page of the handler';
is shown('exit'),    '200 text/html before',       'exit ends the request';
is shown('cgi'),     '202 text/x-cgi body',        'send_cgi_header';
is shown('system'),  '200 text/html child parent', 'output of a child joins the response';
is length( answer('long')->{content} ), 2_000_000, 'a long response arrives whole';
is answer('empty')->{status},           204;

subtest 'statuses that a handler returns' => sub {
    is answer('notfound')->{status}, 404;
    my $redirect = answer('redirect');
    is $redirect->{status},            302;
    is $redirect->{headers}{location}, 'http://example.org/';
};

subtest 'headers' => sub {
    is_deeply answer('cookies')->{headers}{'set-cookie'}, [ 'a=1', 'b=2' ], 'two cookies';
    is answer('nocache')->{headers}{pragma}, 'no-cache';
    my $split = answer('split');
    is $split->{status}, 500, 'a line break in a header is an error';
    ok !exists $split->{headers}{'set-cookie'}, 'the response has no header lines of the script';
};

subtest 'a die is a 500; its text is only in the log' => sub {
    my $answer = answer('die');
    is $answer->{status}, 500;
    unlike $answer->{content}, qr/lost|reason/;
    like $server->log, qr/the reason/;
    is answer('late')->{status}, 599, 'a response cut off after its beginning is visibly truncated';
};

done_testing;
