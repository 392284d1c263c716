package APR::Request::Brigade;

use v5.36;

use APR::Brigade ();
use Symbol       ();

# A brigade as a handle: reading removes the bytes from it.

our @ISA = ('APR::Brigade');

sub new ( $class, $brigade ) { return bless APR::Brigade::_copy($brigade), $class }

{
    no warnings 'once';
    *TIEHANDLE = \&new;
}

# Makes a handle with methods over a brigade.
sub handle ($brigade) {
    my $handle = Symbol::gensym();
    tie *$handle, 'APR::Request::Brigade::Own', $brigade;
    return bless *$handle{IO}, 'APR::Request::Brigade::IO';
}

sub APR::Request::Brigade::Own::TIEHANDLE ( $class, $brigade ) { return $brigade }

# Reads `length` bytes, or without a length one bucket; undef at the end.
sub READ {
    my ( $self, undef, $length, $offset ) = @_;
    $offset //= 0;
    my $have = defined $_[1] ? length $_[1] : 0;
    my $kept = substr $_[1] // '', 0, $offset;
    $kept .= "\0" x ( $offset - $have ) if $offset > $have;
    my $bytes = defined $length && $length == 0 ? '' : APR::Brigade::_take( $self, $length // -1 );
    $_[1] = $kept . ( $bytes // '' );
    return defined $bytes ? length $bytes : undef;
}

# Lines end with a line feed, whatever $/ is.
sub READLINE ($self) {
    return APR::Brigade::_line($self) if !wantarray;
    my @lines;
    while ( defined( my $line = APR::Brigade::_line($self) ) ) { push @lines, $line }
    return @lines;
}

sub EOF   ($self, @ ) { return $self->is_empty }
sub CLOSE ($self)     { $self->cleanup; return 1 }

package APR::Request::Brigade::IO;

sub read { my $self = shift; return tied(*$self)->READ( $_[0], @_[ 1 .. $#_ ] ) }    ## no critic: the name is the API's
sub readline ($self) { return tied(*$self)->READLINE }                             ## no critic: the name is the API's

1;

__END__

=head1 NAME

APR::Request::Brigade - an APR::Brigade as a handle

=head1 SYNOPSIS

    my $io = $upload->io;
    print while <$io>;
    $io->read( my $piece, 8192 );

    tie *HANDLE, 'APR::Request::Brigade', $brigade;    # a copy

=cut
