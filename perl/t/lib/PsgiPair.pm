package PsgiPair;

# A server of PSGI in this process, with IO::Async, and the front's end of one of its streams.

use v5.36;
use parent 'PagiPair';
use Cameleer::PSGI;
use Cameleer::Event::PSGI;

sub available {
    return eval { require IO::Async::Loop; 1 };
}

sub new ( $class, $app, %conf ) {
    Cameleer::Event::PSGI->accepts($app) or die 'no application';
    my $server = Cameleer::Event::PSGI->new( Cameleer::Event::PSGI->application($app), \%conf );
    return bless( { server => $server, in => '' }, $class )->connect;
}

sub upgrade ( $self, $target = '/' ) {
    return $self->send( PagiPair::request( $target, "Connection: Upgrade\r\nUpgrade: test\r\n" ) );
}

1;
