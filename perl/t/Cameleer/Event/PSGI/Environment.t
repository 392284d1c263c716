# Heads of requests become environments.

use v5.36;
use lib __FILE__ =~ s{t/Cameleer/Event/PSGI/[^/]+\z}{lib}r;
use Test::More;

use Cameleer::Event::PSGI::Environment;

sub env ( $target, @fields ) {
    return Cameleer::Event::PSGI::Environment::of( 'GET', $target, [ map { [ split /: /, $_, 2 ] } @fields ], 0, \*STDIN );
}
sub paths (@request) { return join '|', @{ env(@request) }{qw(SCRIPT_NAME PATH_INFO REQUEST_URI QUERY_STRING)} }

is paths( '/a%2520b?q=%20', 'cameleer-path: /a%2520b', 'cameleer-target: /a%252520b%3fq=%2520' ), '|/a%20b|/a%2520b?q=%20|q=%20', 'a path';
is paths( '/at/x', 'cameleer-path: /at/x', 'cameleer-target: /at/x', 'cameleer-script-name: /at' ), '/at|/x|/at/x|', 'below a place';
is paths( '/at', 'cameleer-path: /at', 'cameleer-target: /at', 'cameleer-script-name: /at' ), '/at||/at|', 'the place itself';
is paths( '/at//x', 'cameleer-path: /at/x', 'cameleer-target: /at//x', 'cameleer-script-name: /at' ), '/at|//x|/at//x|', 'doubled slashes';
is paths( '/x/..//at/y', 'cameleer-path: /at/y', 'cameleer-target: /x/..//at/y', 'cameleer-script-name: /at' ), '/at|/y|/x/..//at/y|', 'but not with ..';

my $env = env(
    '/', 'x-many: a', 'cookie: a=1', 'x_user: forged', 'proxy: p', 'x-many: b', 'cookie: b=2', 'content-type: t', 'content-length: 0', 'transfer-encoding: x',
    'cameleer-client: 192.0.2.1 4711', 'cameleer-scheme: https', 'cameleer-protocol: 2', 'cameleer-user: ada', 'cameleer-auth-type: Basic', 'cameleer-client-name: host.example',
    'cameleer-server-name: example.org', 'cameleer-server-port: 443', 'cameleer-variables: A=1%25%00B=x=y%00'
);
my %expected = (
    HTTP_X_MANY => 'a, b', HTTP_COOKIE => 'a=1; b=2', CONTENT_TYPE => 't', CONTENT_LENGTH => 0, REMOTE_ADDR => '192.0.2.1', REMOTE_PORT => 4711,
    'psgi.url_scheme' => 'https', SERVER_PROTOCOL => 'HTTP/2.0', REMOTE_USER => 'ada', AUTH_TYPE => 'Basic', REMOTE_HOST => 'host.example',
    SERVER_NAME => 'example.org', SERVER_PORT => 443, A => '1%', B => 'x=y', 'psgi.nonblocking' => 1, 'psgi.run_once' => '',
);
is $env->{$_}, $expected{$_}, $_ for sort keys %expected;
is join( ' ', grep {/\AHTTP_/} sort keys %$env ), 'HTTP_COOKIE HTTP_X_MANY', 'no other fields';

done_testing;
