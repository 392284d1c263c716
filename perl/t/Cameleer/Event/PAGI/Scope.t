# Heads of requests become scopes.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/PAGI/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/PAGI/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PagiPair; PagiPair::available() } or plan skip_all => 'IO::Async and Future::AsyncAwait are not installed';
}

sub scope ( $target, @fields ) {
    my @head = Cameleer::Event::Stream::head( join "\r\n", "GET $target HTTP/1.1", @fields ) or return;
    return ( Cameleer::Event::PAGI::Scope::of(@head) )[0];
}

for ( [ '/', '/' ], [ '/a%2Fb%20c', '/a/b c' ], [ '/%E2%82%AC', "/\x{20ac}" ], [ '/%FFx', "/\xffx" ], [ '/%C3%28', "/\xc3(" ], [ '/%zz%', '/%zz%' ], [ '/+', '/+' ] ) {
    my $scope = scope("$_->[0]?q=%20?x");
    is_deeply [ @$scope{qw(path raw_path query_string)} ], [ $_->[1], $_->[0], 'q=%20?x' ], "the path $_->[0]";
}
for ( [ 'text/event-stream', 'sse' ], [ 'text/html, text/event-stream;q=0.5', 'sse' ], [ 'TEXT/EVENT-STREAM', 'sse' ], [ 'text/event-streams', 'http' ], [ 'x-text/event-stream', 'http' ], [ '*/*', 'http' ] ) {
    is scope( '/', "Accept: $_->[0]" )->{type}, $_->[1], "Accept: $_->[0]";
}
is scope( '/', 'Upgrade: WebSocket', 'Connection: Upgrade', 'Accept: text/event-stream' )->{type}, 'websocket', 'an upgrade is no stream of events';
my $scope = scope( '/', 'Cameleer-Scheme: https', 'Cameleer-Protocol: 2', 'Cameleer-Client: 2001:db8::1 5', 'Cameleer-Server: 192.0.2.9 443', 'Cameleer-Tls-Version: TLSv1.3', 'Cameleer-Tls-Cipher: 0x1301', 'Cameleer-Tls-Client-Name: CN=me', 'Cameleer-Tls-Client-Cert: -----BEGIN CERTIFICATE-----,AA==,-----END CERTIFICATE-----,' );
is_deeply [ @$scope{qw(scheme http_version client server)} ], [ 'https', 2, [ '2001:db8::1', 5 ], [ '192.0.2.9', 443 ] ], 'the facts of the front';
is_deeply $scope->{extensions}{tls}, { server_cert => undef, client_cert_chain => ["-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"], client_cert_name => 'CN=me', client_cert_error => undef, tls_version => 0x0304, cipher_suite => 0x1301 }, 'the extension tls';
$scope = scope( '/', 'Cameleer-Scheme: https', 'Upgrade: websocket', 'Sec-WebSocket-Protocol: a ,b,', 'Sec-WebSocket-Protocol: c' );
is_deeply [ @$scope{qw(scheme subprotocols)} ], [ 'wss', [ 'a', 'b', 'c' ] ], 'subprotocols of several fields';
ok !exists scope( '/', 'Cameleer-Client:  0' )->{client}, 'a client without an address has none';
ok !exists scope( '/', 'Cameleer-Server: 127.0.0.1 0' )->{server}, 'nor has a server at a Unix socket';
is scope( '/', $_ ), undef, "no head: $_" for 'no colon', ': x', 'a b: c';

done_testing;
