package Cameleer::Inspection;

use v5.36;

# What this process has loaded, as JSON: the names of %INC and the files that they came from. A program's own hook in @INC
# puts references there.
sub loaded {
    return _object( map { $_ => $INC{$_} } grep { defined $INC{$_} && !ref $INC{$_} } sort keys %INC );
}

# Pairs of strings. A module for JSON would stay in the mold, and in every worker after it.
sub _object (@pairs) {
    my @members;
    while ( my ( $name, $value ) = splice @pairs, 0, 2 ) {
        push @members, _string($name) . ':' . _string($value);
    }
    return '{' . join( ',', @members ) . '}';
}

# Bytes above 127 are taken for Latin-1, as perl takes them.
sub _string ($text) {
    $text =~ s{([^\x20-\x7e]|["\\])}{_escaped(ord $1)}ge;
    return qq{"$text"};
}

sub _escaped ($code) {
    return sprintf '\\u%04x', $code if $code < 0x1_0000;
    $code -= 0x1_0000;
    return sprintf '\\u%04x\\u%04x', 0xd800 + ( $code >> 10 ), 0xdc00 + ( $code & 0x3ff );
}

1;

__END__

=head1 NAME

Cameleer::Inspection - what a process tells about itself

=head1 DESCRIPTION

Each function returns a text of JSON; the server calls it in the mold and in workers that have no request, when
somebody asks (C<cameleer mem>).

=head2 loaded

An object: the names in C<%INC>, and the files that they came from.

=cut
