# The program of an event pool that passes its streams on to another process: tests keep their applications to themselves.
#
#     worker ── descriptors of streams ──▶ process of the test
#     worker ◀─ held while it serves ────▶
package Cameleer::Event::Forward;

use v5.36;
use Errno            ();
use IO::FDPass       ();
use IO::Socket::UNIX ();
use POSIX            ();

BEGIN { $INC{'Cameleer/Event/Forward.pm'} = __FILE__ }
unshift @Cameleer::Event::CLASSES, __PACKAGE__;

sub accepts ( $class, $value ) { return 1 }

sub run ( $class, $path, $settings ) {
    # The order to leave closes the second one; the test closes the first when its last request is over.
    my ( $streams, $leave ) = map { IO::Socket::UNIX->new( Peer => $path ) // die "$path: $!\n" } 1, 2;
    open my $orders, '<&=', Cameleer::Event::descriptor() or die "the descriptor of orders: $!\n";
    state @keep;
    push @keep, $orders;
    Cameleer::Event::ready();
    my $is_over = 0;
    while (1) {
        my $readable = '';
        vec( $readable, fileno $_, 1 ) = 1 for $streams, $is_over ? () : $orders;
        if ( select( $readable, undef, undef, undef ) < 0 ) {
            next if $!{EINTR};
            die "select: $!\n";
        }
        return if vec $readable, fileno $streams, 1;
        next if $is_over;
        my ( $is_leaving, @descriptors ) = Cameleer::Event::orders();
        for my $descriptor (@descriptors) {
            IO::FDPass::send( fileno $streams, $descriptor ) or die "IO::FDPass: $!\n";
            POSIX::close($descriptor);
        }
        undef $leave if $is_leaving;
        $is_over = $is_leaving > 1;
    }
    return;
}

$ENV{BRIDGE};
