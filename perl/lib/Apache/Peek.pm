package Apache::Peek;

use v5.36;
use Exporter 'import';

use Apache             ();
use Cameleer::Captured ();
use Devel::Peek        ();

our @EXPORT      = qw(Dump DumpArray);
our @EXPORT_OK   = @EXPORT;
our %EXPORT_TAGS = ( ALL => \@EXPORT_OK );

# @_ aliases the caller's scalar; a copy would be dumped differently. Outside of requests the dump goes to
# STDERR, like Devel::Peek's.
sub Dump {
    return Devel::Peek::Dump( $_[0], $_[1] // 4 ) if !Apache->request;
    my $limit = $_[1] // 4;
    my $value = \$_[0];
    print Cameleer::Captured::stderr_of( sub { Devel::Peek::Dump( $$value, $limit ) } );
    return;
}

sub DumpArray {
    my $limit = shift;
    for my $at ( 0 .. $#_ ) {
        print "Elt No. $at\n";
        Dump( $_[$at], $limit );
    }
    return;
}

1;

__END__

=head1 NAME

Apache::Peek - sends perl's internal dump of a variable to the client

=head1 SYNOPSIS

    use Apache::Peek;
    print "Content-type: text/plain\n\n";
    Dump($counter);
    Dump( $deep, 10 );
    DumpArray( 4, @list );

=head1 DESCRIPTION

C<Dump> and C<DumpArray> of L<Devel::Peek>, printed to STDOUT, that is to the client, instead of
STDERR. Equal addresses in two workers are memory that they may share.

=cut
