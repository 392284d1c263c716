package Apache::Server::Variables;

use v5.36;

# A tied hash with a blessed reference, like an Apache::Table, but without a request.
sub new ( $class, @pairs ) {
    tie( my %table, $class, @pairs );
    return bless \%table, $class;
}

# Maps a name in lower case to its original spelling and its values.
sub TIEHASH ( $class, @pairs ) {
    my %values;
    while ( my ( $name, $value ) = splice @pairs, 0, 2 ) {
        push @{ $values{ lc $name } //= [$name] }, $value;
    }
    return bless { values => \%values, names => [ map { $_->[0] } values %values ] }, $class;
}

sub FETCH    ( $self, $name ) { return ( $self->{values}{ lc $name } // [] )->[1] }
sub EXISTS   ( $self, $name ) { return exists $self->{values}{ lc $name } }
sub SCALAR   ($self)          { return scalar @{ $self->{names} } }
sub FIRSTKEY ($self)          { $self->{next} = 0; return $self->NEXTKEY }
sub NEXTKEY  ( $self, @ )     { return $self->{names}[ $self->{next}++ ] }

sub STORE { die "the server's variables are read-only; set them with PerlSetVar\n" }
*DELETE = *CLEAR = \&STORE;

# The first value; in list context all values.
sub get ( $table, $name ) {
    my ( undef, @values ) = @{ tied(%$table)->{values}{ lc $name } // [] };
    return wantarray ? @values : $values[0];
}

1;

__END__

=head1 NAME

Apache::Server::Variables - PerlSetVar and PerlAddVar outside of containers

=head1 SYNOPSIS

    my $variables = Apache->server->dir_config;
    my $first     = $variables->get('Name');       # or $variables->{Name}
    my @all       = $variables->get('Name');

=head1 DESCRIPTION

Read access like an L<Apache::Table>, also while the server starts: names ignore case; the result is
C<undef> or an empty list for a name that is not set. Changes die.

=cut
