use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/lib";
use Faults ();

package Faults::Psgi {
    sub begin { $_[0]{out} = $_[0]{respond}->( [ 200, [ 'Content-Type' => 'text/plain', 'Content-Length' => $_[1] ] ] ) }
    sub write { $_[0]{out}->write( $_[1] ) }
}

sub {
    my $env = shift;
    return sub {
        my $writer = bless { respond => shift }, 'Faults::Psgi';
        Faults::answer( $writer, $env->{PATH_INFO}, $env->{QUERY_STRING} );
        $writer->{out}->close;
    };
};
