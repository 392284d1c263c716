package Apache::Server::Variables;

use v5.36;

# A tied hash whose reference is blessed as well, as an Apache::Table's is; but no request owns it.
sub new ( $class, @pairs ) {
    tie( my %table, $class, @pairs );
    return bless \%table, $class;
}

# The name in lower case => its name and its values.
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

sub STORE { die "the server's variables are what its configuration says\n" }
*DELETE = *CLEAR = \&STORE;

# The first value; all of them in list context.
sub get ( $table, $name ) {
    my ( undef, @values ) = @{ tied(%$table)->{values}{ lc $name } // [] };
    return wantarray ? @values : $values[0];
}

1;

__END__

=head1 NAME

Apache::Server::Variables - what PerlSetVar and PerlAddVar say outside any container

=head1 SYNOPSIS

    my $variables = Apache->server->dir_config;
    my $first     = $variables->get('Name');       # or $variables->{Name}
    my @all       = $variables->get('Name');

=head1 DESCRIPTION

To be read like an L<Apache::Table>, also while the server starts: names in any case, C<undef> or an empty list for one
that is not set. Changing it dies.

=cut
