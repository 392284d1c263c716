package APR::Request::Value;

use v5.36;

use Scalar::Util ();

# A parameter or cookie. All objects that programs make of it are references to the same value.

sub new ( $class, %fields ) { return bless { is_tainted => 1, %fields }, $class }

# The value as an object of that class, or as a text.
sub as ( $self, $class ) {
    return $self->plain if !defined $class;
    my $held = $self;
    return bless \$held, $class;
}

# A value is bytes, until the program declares it untainted.
sub plain ($self) { return $self->{is_tainted} ? $self->{value} : $self->trusted }

sub trusted ($self) {
    my ($text) = $self->{value} =~ /\A(.*)\z/s;    # the match also removes perl's taint
    utf8::decode($text) if $self->charset == 8;
    return $text;
}

# Guesses ASCII, Latin-1, Windows-1252 or UTF-8 from the bytes.
sub charset ($self) {
    return $self->{charset} //= do {
        my $text = $self->{value};
        $text !~ /[\x80-\xff]/ ? 0 : utf8::decode($text) ? 8 : $text =~ /[\x80-\x9f]/ ? 2 : 1;
    };
}

# The value behind an object. A program's own class may store it under a one-letter key, or with a _ before it.
sub behind ( $object, $letter ) {
    for ( 1 .. 100 ) {
        my $type = Scalar::Util::reftype($object) // '';
        return $$object if $type eq 'REF' && Scalar::Util::blessed($$object) && $$object->isa(__PACKAGE__);
        last            if $type ne 'HASH';
        $object = $object->{$letter} // $object->{"_$letter"};
    }
    require Carp;
    Carp::croak("expected a parameter or cookie of libapreq, or a hash with one in {$letter}");
}

# Sets a flag; returns its old value.
sub flag ( $self, $name, @new ) {
    my $before = $self->{$name} ? 1 : 0;
    $self->{$name} = $new[0] ? 1 : 0 if @new;
    return $before;
}

1;

__END__

=head1 NAME

APR::Request::Value - the common part of L<APR::Request::Param> and L<APR::Request::Cookie>

=cut
