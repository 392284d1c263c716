package GTop::Record;

use v5.36;

sub new ( $class, %fields ) { return bless {%fields}, $class }

# libgtop's accessors take the pid again (`$mem->size($pid)`): arguments are ignored.
sub AUTOLOAD {
    my ($self) = @_;
    my $name = our $AUTOLOAD =~ s/.*:://r;
    return if $name eq 'DESTROY';
    if ( !ref $self || !exists $self->{$name} ) {
        require Carp;
        Carp::croak( "GTop has no field $name here; there are: " . join ' ', ref $self ? sort keys %$self : () );
    }
    return $self->{$name};
}

sub can ( $self, $name ) {
    return $self->SUPER::can($name) // ( ref $self && exists $self->{$name} ? sub { $_[0]{$name} } : undef );
}

1;

__END__

=head1 NAME

GTop::Record - values measured by GTop, with a method for each field

=head1 SYNOPSIS

    my $record = GTop::Record->new( total => 17, free => 4 );
    $record->free;

=cut
