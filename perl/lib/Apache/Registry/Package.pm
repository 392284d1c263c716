package Apache::Registry::Package;

use v5.36;
use Sub::Util ();

# /perl/news.pl → Apache::ROOT::perl::news_2epl; with a virtual host's name before it
# Apache::ROOTwww_2eexample_2eorg::…. The result has word characters only: it becomes part of code.
sub name_of ($uri) {
    my $name = $uri =~ s{(?<!/)/+\z}{/__INDEX__}r;
    $name =~ s{([^A-Za-z0-9_/])}{sprintf '_%02x', ord $1}eg;
    $name =~ s{/+([0-9]?)}{'::' . ( length $1 ? sprintf '_%02x', ord $1 : '' )}eg;
    return "Apache::ROOT$name";
}

# Deletes the subs that a script has defined, so that compiling it again redefines none. Variables and imported subs are
# retained.
sub forget_subs ($package) {
    my $symbols = symbols($package);
    for my $name ( keys %$symbols ) {
        my $code = code( $symbols->{$name}, $package, $name ) or next;
        my ($of) = Sub::Util::subname($code) =~ /\A(.*)::/s;
        without_code( $symbols, $name ) if $of eq $package;
    }
    return;
}

# Deletes everything except nested packages.
sub flush ($package) {
    my $symbols = symbols($package);
    delete $symbols->{$_} for grep { !/::\z/ } keys %$symbols;
    return;
}

sub symbols ($package) {
    no strict 'refs';
    return \%{"${package}::"};
}

# A symbol table's entry may be a constant or a declared sub instead of a glob.
sub code ( $entry, $package, $name ) {
    return if $name =~ /::\z/;
    no strict 'refs';
    return defined &{"${package}::$name"} ? \&{"${package}::$name"} : undef;
}

sub without_code ( $symbols, $name ) {
    my $glob = \$symbols->{$name};
    my @kept = ref $glob eq 'GLOB' ? grep { defined } map { *{$glob}{$_} } qw(SCALAR ARRAY HASH IO FORMAT) : ();
    my $full = ref $glob eq 'GLOB' ? *{$glob}{PACKAGE} . '::' . $name : undef;
    delete $symbols->{$name};
    no strict 'refs';
    *{$full} = $_ for @kept;
    return;
}

1;

__END__

=head1 NAME

Apache::Registry::Package - the package that a script is compiled into

=head1 SYNOPSIS

    my $package = Apache::Registry::Package::name_of('/perl/news.pl');

=cut
