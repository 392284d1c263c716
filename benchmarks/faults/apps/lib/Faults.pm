package Faults;

# The site of the fault scenarios, for all servers. A writer has the methods begin($length or undef) and write($bytes).

use strict;
use warnings;

use Faults::Mischief ();

my $MEGABYTE = 'x' x 1_048_576;

my %ACTIONS = (
    '/hello' => sub { whole( $_[0], "Hello\n" ) },
    '/slow'  => sub { select undef, undef, undef, $_[1]; whole( $_[0], "slow\n" ) },
    '/kill'  => sub { kill KILL => $$ },
    '/loop'  => sub { 1 while 1 },
    '/half'  => sub { $_[0]->begin(2_000_000); $_[0]->write($MEGABYTE); kill KILL => $$ },
    '/big'   => sub { $_[0]->begin( $_[1] * length $MEGABYTE ); $_[0]->write($MEGABYTE) for 1 .. $_[1] },
    '/commit' => sub { Faults::Mischief::commit( $_[1] ); whole( $_[0], "done\n" ) },
    '/state'  => sub { select undef, undef, undef, 0.1; whole( $_[0], "$$ " . Faults::Mischief::state() ) },
    '/deaf'  => sub { local $SIG{TERM} = local $SIG{INT} = local $SIG{QUIT} = 'IGNORE'; 1 while 1 },
);

sub whole {
    my ( $writer, $text ) = @_;
    $writer->begin( length $text );
    $writer->write($text);
}

sub answer {
    my ( $writer, $path, $argument ) = @_;
    my $action = $ACTIONS{$path} || $ACTIONS{'/hello'};
    $action->( $writer, $argument || 0 );
}

1;
