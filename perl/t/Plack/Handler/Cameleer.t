# Plack::Handler::Cameleer: options of plackup as a command line, and Plack's own server tests through plackup.
use v5.36;

use File::Spec ();
my $LIB;
BEGIN { $LIB = File::Spec->rel2abs(__FILE__) =~ s{t/Plack/.*}{lib}rs }
use lib $LIB;
use Plack::Handler::Cameleer ();
use Plack::Test::Suite;
use Test::More;

sub line (%options) {
    my @words = Plack::Handler::Cameleer->new(%options)->arguments( '/srv/my app', 'it\'s' );
    is_deeply [ @words[ 0, 1 ] ], [ 'run', '-e' ], 'a program is run';
    like $words[2], qr{Plack::Handler::Cameleer::application\('/srv/my app', 'it\\'s'\)\z}, 'with its arguments';
    return join ' ', @words[ 3 .. $#words ];
}

delete local @ENV{qw(SERVER_STARTER_PORT LISTEN_PID)};
is line( host => undef, port => 5000, listen => [':5000'] ), '--listen :5000', 'an address';
is line( port => 80, host => 'localhost' ), '--listen localhost:80', 'host and port';
is line( socket => '/run/a.sock' ), '--listen /run/a.sock', 'a socket';
is line( listen => [':443:ssl'], enable_ssl => 1 ), '--listen :443 --tls', 'TLS';
is eval { line( listen => [':443:ssl'] ); 1 }, undef, 'no plain HTTP where TLS is meant';
like $@, qr/--listen :443:ssl: no certificate/, 'with the reason';
is line( listen => [ ':80', ':443:ssl' ], enable_ssl => 1 ), '--listen :80 --listen :443:ssl --tls', 'TLS at some addresses';
is line( listen => [ ':80', ':443:ssl' ], ssl_cert => '/c.pem', ssl_key => '/k.pem' ),
    '--listen :80 --listen :443:ssl -C SSLCertificateFile "/c.pem" -C SSLCertificateKeyFile "/k.pem"', 'with a certificate';
is eval { line( listen => [ ':80', ':443:ssl' ] ); 1 }, undef, 'nor at some addresses';
is line( listen => [':80'], workers => 3, max_requests => 7, preload_app => 1, daemonize => 1 ), '--listen :80 --max-requests 7 --workers 3 -D', 'workers';
is line( listen => [':80'], keepalive => '', keepalive_timeout => 1.5, read_timeout => 9, backlog => 64 ),
    '--listen :80 -C ListenBacklog 64 -C KeepAlive Off -C KeepAliveTimeout 2 -C RequestReadTimeout header=9 body=9', 'directives';
{
    local $SIG{__WARN__} = sub ($text) { like $text, qr/--colour is not an option of this server/, 'an unknown option' };
    is line( listen => [':80'], colour => 'red' ), '--listen :80', 'is left out';
}
is eval { line( timeout => "5\nUser root" ); 1 }, undef, 'a value is no further directive';
{
    local $ENV{SERVER_STARTER_PORT} = '80=3';
    is line( listen => [':80'] ), '', 'a socket that is passed';
}

# The client's protocol and the server's user do not matter to this handler.
if ( ( $ENV{TEST_DOOR} // 'http' ) ne 'http' ) {
    done_testing;
    exit;
}

$ENV{PERL5LIB} = join ':', $LIB, $ENV{PERL5LIB} // ();
my $app = q{use Plack::Test::Suite; use Plack::Middleware::Lint; Plack::Middleware::Lint->wrap( Plack::Test::Suite->test_app_handler )};
Plack::Test::Suite->run_server_tests(
    sub ( $port, $ ) {
        exec qw(plackup -s Cameleer -E test --workers 2 --listen), "127.0.0.1:$port", '-e', $app;
        die "plackup: $!\n";
    }
);
done_testing;
