package Cameleer::Inspection;

use v5.36;

# The code that this process has loaded, as JSON: names and files of %INC, and of Registry scripts. A program's
# own hook in @INC puts references into %INC; these are skipped.
sub loaded {
    my %script = ( Apache::Registry->can('compiled') ? Apache::Registry::compiled() : (), _of_mod_perl_2() );
    return '{"modules":'
      . object( map { $_ => $INC{$_} } grep { defined $INC{$_} && !ref $INC{$_} } sort keys %INC )
      . ',"scripts":'
      . object( map { $_ => $script{$_} } sort keys %script ) . '}';
}

# Scripts of mod_perl 2's Registry, by class and URI: those that Cameleer::Preload has compiled before the fork, and
# those that have run.
sub _of_mod_perl_2 {
    no warnings 'once';
    my ( $kept, %file ) = ( \%ModPerl::RegistryCooker::KEPT, %Cameleer::Preload::COMPILED );
    for my $class ( keys %$kept ) {
        $file{"$class $kept->{$class}{$_}{uri}"} = $_ for keys %{ $kept->{$class} };
    }
    return %file;
}

# Makes JSON of pairs of strings. A JSON module would stay in the mold, and in all its workers.
sub object (@pairs) {
    my @members;
    while ( my ( $name, $value ) = splice @pairs, 0, 2 ) {
        push @members, _string($name) . ':' . _string($value);
    }
    return '{' . join( ',', @members ) . '}';
}

# Bytes above 127 are treated as Latin-1, as in perl.
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

Cameleer::Inspection - facts about a process, for the server

=head1 DESCRIPTION

Each function returns JSON text; for C<cameleer mem>, the server calls it in the mold and in idle
workers.

=head2 loaded

Returns an object: C<modules> has the names in C<%INC> and their files; C<scripts> has the keys of
compiled Registry scripts and their files. A key is a virtual host's name and the URI; of
C<ModPerl::Registry>, the class, a space and the URI.

=head2 object

Returns an object with these names and values.

=cut
