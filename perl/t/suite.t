#!/usr/bin/perl
# Plack's own server tests, whole: against `cameleer run`, or through a door of TestServer against `cameleer serve`.
#
#     CAMELEER=target/debug/cameleer TEST_DOOR=h2 prove perl/t/suite.t
use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

use Plack::Test::Suite;
use Test::More;

my $app = q{use Plack::Test::Suite; use Plack::Middleware::Lint;
    Plack::Middleware::Lint->wrap( Plack::Test::Suite->test_app_handler )};

if ( $ENV{TEST_DOOR} ) { through_a_door() }
else {
    my $cameleer = $ENV{CAMELEER} // 'cameleer';
    Plack::Test::Suite->run_server_tests(
        sub ( $port, $ ) {
            exec $cameleer, 'run', '--listen', "127.0.0.1:$port", '--workers', 2, '-e', $app;
            die "$cameleer: $!\n";
        }
    );
}
done_testing;

sub through_a_door {
    my $server = TestServer->prepare( "<Location />\nPsgiApp app.psgi\n</Location>\n", 'app.psgi' => $app );
    comes_in($server);
    Plack::Test::Suite->run_server_tests( sub { exec $server->command or die "$!\n" }, $server->{port} );
    return;
}

# The suite's client is Plack::LWPish around HTTP::Tiny, and two of its tests say that one comes in by HTTP/1 without TLS.
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

package Door {
    sub new ( $class, $server ) { return bless { server => $server }, $class }

    sub request ( $self, $method, $url, $options ) {
        my $scheme = TestServer::scheme();
        return $self->{server}->client->request( $method, $url =~ s/\Ahttp:/$scheme:/r, $options );
    }
}
