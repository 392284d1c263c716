package APR::Request::Value;

use v5.36;

use Scalar::Util ();

# One parameter or cookie, for as many objects as programs make of it: each of those is a reference to it.

sub new ( $class, %fields ) { return bless { is_tainted => 1, %fields }, $class }

# As an object of that class, or a text.
sub as ( $self, $class ) {
    return $self->plain if !defined $class;
    my $held = $self;
    return bless \$held, $class;
}

# A text of a browser's is bytes, until the program says that it is not tainted.
sub plain ($self) { return $self->{is_tainted} ? $self->{value} : $self->trusted }

sub trusted ($self) {
    my ($text) = $self->{value} =~ /\A(.*)\z/s;    # by a match: perl's own taint goes as well
    utf8::decode($text) if $self->charset == 8;
    return $text;
}

# ASCII, Latin-1, Windows-1252 or UTF-8, by the look of it.
sub charset ($self) {
    return $self->{charset} //= do {
        my $text = $self->{value};
        $text !~ /[\x80-\xff]/ ? 0 : utf8::decode($text) ? 8 : $text =~ /[\x80-\x9f]/ ? 2 : 1;
    };
}

# What an object stands for. A program's own class may keep it under a name of one letter, or with a _ before it.
sub behind ( $object, $letter ) {
    for ( 1 .. 100 ) {
        my $type = Scalar::Util::reftype($object) // '';
        return $$object if $type eq 'REF' && Scalar::Util::blessed($$object) && $$object->isa(__PACKAGE__);
        last            if $type ne 'HASH';
        $object = $object->{$letter} // $object->{"_$letter"};
    }
    require Carp;
    Carp::croak("not a parameter or cookie of libapreq, and nothing in its {$letter} is one");
}

# The value before.
sub flag ( $self, $name, @new ) {
    my $before = $self->{$name} ? 1 : 0;
    $self->{$name} = $new[0] ? 1 : 0 if @new;
    return $before;
}

1;

__END__

=head1 NAME

APR::Request::Value - what L<APR::Request::Param> and L<APR::Request::Cookie> have in common

=cut
