package Cameleer::Inspection;

use v5.36;

# What this process has loaded, as JSON: the names of %INC and the files that they came from, and the same of Registry scripts.
# A program's own hook in @INC puts references into %INC.
sub loaded {
    my %script = Apache::Registry->can('compiled') ? Apache::Registry::compiled() : ();
    return '{"modules":'
      . object( map { $_ => $INC{$_} } grep { defined $INC{$_} && !ref $INC{$_} } sort keys %INC )
      . ',"scripts":'
      . object( map { $_ => $script{$_} } sort keys %script ) . '}';
}

# Pairs of strings. A module for JSON would stay in the mold, and in every worker after it.
sub object (@pairs) {
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

An object: C<modules>, the names in C<%INC> and the files that they came from; C<scripts>, the keys of compiled Registry
scripts, which are their URIs behind the name of their virtual host, and their files.

=head2 object

The text of an object with these names and values.

=cut
