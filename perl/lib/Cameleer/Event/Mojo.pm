package Cameleer::Event::Mojo;

use v5.36;

use Scalar::Util ();

# Whether a value is an application of Mojolicious. Nothing is loaded for other values.
sub accepts ( $class, $value ) {
    return Scalar::Util::blessed $value && $value->isa('Mojolicious');
}

sub run ( $class, $app, $settings ) {
    require Cameleer::Event::Mojo::Server;
    return Cameleer::Event::Mojo::Server->new( app => $app, silent => 1 )->serve($settings);
}

1;

__END__

=head1 NAME

Cameleer::Event::Mojo - Mojolicious in workers that run an event loop

=head1 DESCRIPTION

An unmodified application of Mojolicious runs as with C<hypnotoad>: the server is a
L<Mojo::Server::Daemon> whose connections come from the front, see L<Cameleer::Event::Mojo::Server>.

=cut
