#!/usr/bin/perl
# Plack's own server tests, whole: against `cameleer run`, or through a door of TestServer against `cameleer serve`.
#
# With TEST_REFORKS the tests run again after that number of reforks, with TEST_EVENT in an event pool.
#
#     CAMELEER=target/debug/cameleer TEST_DOOR=h2 prove perl/t/Cameleer/PSGI.t
use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

use Plack::Test::Suite;
use Test::More;

# The server identifies each test by its number.
my $known = @Plack::Test::Suite::TEST;

my $app = q{use Plack::Test::Suite; use Plack::Middleware::Lint;
    Plack::Middleware::Lint->wrap( Plack::Test::Suite->test_app_handler )};

if ( $ENV{TEST_EVENT} ) {
    note 'psgi.nonblocking';
    $app = qq{my \$app = do { $app }; sub { \$_[0]{'psgi.nonblocking'} or die; \$app->( \$_[0] ) }};
}
if ( $ENV{TEST_DOOR} ) { through_a_door() }
else {
    my $cameleer = $ENV{CAMELEER} // 'cameleer';
    Plack::Test::Suite->run_server_tests(
        sub ( $port, $ ) {
            exec $cameleer, 'run', '--listen', "127.0.0.1:$port", '--workers', 2, $ENV{TEST_EVENT} ? '--event' : (), '-e', $app;
            die "$cameleer: $!\n";
        }
    );
}
done_testing;

sub through_a_door {
    my $reforks = $ENV{TEST_REFORKS} || 0;
    my $conf    = $reforks ? "ControlSocket control.sock\nMaxClients 3\nMaxSpareServers 3\nStartServers 3\n" : '';
    my $server  = TestServer->prepare( "$conf<Location />\nPsgiApp app.psgi\n</Location>\n", 'app.psgi' => $app );
    comes_in($server);
    twice( $server, $reforks ) if $reforks;
    Plack::Test::Suite->run_server_tests( sub { exec $server->command or die "$!\n" }, $server->{port} );
    return;
}

# The suite's client is Plack::LWPish around HTTP::Tiny, and two of its tests require a client by HTTP/1 without TLS.
sub comes_in ($server) {
    no warnings 'redefine';
    my %says = ( 'psgi.url_scheme' => TestServer::scheme(), 'SERVER_PROTOCOL is required' => TestServer::protocol() );
    for my $test (@Plack::Test::Suite::TEST) {
        my $said = delete $says{ $test->[0] } // next;
        my $uri  = HTTP::Request->new( GET => 'http://127.0.0.1/foo/' );
        $test->[1] = sub ($ask) { is $ask->($uri)->content, $said, $test->[0] };
    }
    die "not in the suite: @{[ keys %says ]}\n" if %says;
    *Plack::LWPish::new = sub { bless { http => Door->new($server) }, 'Plack::LWPish' };
    return;
}

# Runs the suite before and after the reforks: some of its tests die, and a worker that has just died cannot become a
# mold.
sub twice ( $server, $reforks ) {
    my ( $first, @others ) = @Plack::Test::Suite::TEST;
    my $reforked = sub ($ask) {
        for my $refork ( 1 .. $reforks ) {
            $ask->( HTTP::Request->new( GET => 'http://127.0.0.1/' ) ) for 1 .. 30;
            my $said = qx{$ENV{CAMELEER} refork --socket $server->{dir}/control.sock 2>&1};
            is $?, 0, "refork $refork $said";
        }
        $first->[1]->($ask);
    };
    push @Plack::Test::Suite::TEST, [ @$first[0], $reforked ], @others;
    return;
}

package Door {
    sub new ( $class, $server ) { return bless { server => $server }, $class }

    sub request ( $self, $method, $url, $options ) {
        $options->{headers}{'X-Plack-Test'} %= $known;
        my $scheme = TestServer::scheme();
        return $self->{server}->client->request( $method, $url =~ s/\Ahttp:/$scheme:/r, $options );
    }
}
