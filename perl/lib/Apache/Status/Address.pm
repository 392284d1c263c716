package Apache::Status::Address;

use v5.36;

# Views of mod_perl 1 and the corresponding views in Cameleer. Views of subs need no kind.
my %WAY = (
    data_dump          => 'dumper',
    noh_peek           => 'peek',
    noh_b_package_size => 'package_size',
    cv_dump            => 'info',
    noh_b_deparse      => 'deparse',
    noh_b_lexinfo      => 'lexinfo',
    noh_b_terse        => 'terse',
    noh_b_terse_size   => 'terse_size',
);
my %IS_OF_SUBS = map { $_ => 1 } qw(info deparse lexinfo terse terse_size noh_b_graph noh_b_fathom noh_xref);

# The name, kind and page of an address; each may be empty. A path is /Package or /Package::name/KIND; for the
# operators of a sub it is /exec/Package::name or /slow/Package::name.
sub parts ( $path, $query ) {
    my ($what) = $query =~ /\A(\w+(?:::\w+)*)/;
    $what //= '';
    $path =~ s{\A/+}{};
    return ( $what, '', $what ) if $path eq '';
    $what = $WAY{$what} // $what;
    my ( $name, $kind ) = split m{/}, $path =~ s{\A(?:exec|slow)/}{}r, 2;
    $kind //= $IS_OF_SUBS{$what} ? 'CODE' : '';
    return ( $name, $kind eq 'FUNCTION' ? 'CODE' : $kind, $what );
}

1;

__END__

=head1 NAME

Apache::Status::Address - parses the addresses of Apache::Status

=head1 SYNOPSIS

    my ( $name, $kind, $what ) = Apache::Status::Address::parts( '/My::sub/FUNCTION', 'cv_dump' );    # My::sub CODE info

=cut
