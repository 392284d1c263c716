package Apache::Status::Package;

use v5.36;

use Apache::Status::Look   ();
use Apache::Status::Memory ();
use Apache::Status::Pages  ();
use Cameleer::HTML         qw(escape);

# The page of a package, or of a symbol if there is a kind. The client's text is looked up, never evaluated.
sub page ( $r, $name, $kind, $what ) {
    return ['<p>There is no such package.</p>'] if $name !~ /\A\w+(?:::\w+)*\z/;
    return Apache::Status::Look::page( $r, $name, $kind, $what ) if $kind =~ /\A(?:SCALAR|ARRAY|HASH|CODE)\z/;
    return ['<p>There is no such kind of symbol.</p>'] if $kind ne '';
    return [ '<p>There is no package ' . escape($name) . '.</p>' ] if !exists_package($name);
    return Apache::Status::Memory::page( $r, $name )               if $what eq 'package_size';
    return symbols( $r, $name );
}

sub exists_package ($name) {
    my $stash = \%main::;
    for my $part ( split /::/, $name ) {
        my $glob = exists $stash->{"${part}::"} ? \$stash->{"${part}::"} : return 0;
        $stash = ref $glob eq 'GLOB' ? *{$glob}{HASH} // return 0 : return 0;
    }
    return 1;
}

sub symbols ( $r, $package ) {
    my @out = '<h2>' . escape($package) . "</h2>\n";
    for my $kind (qw(CODE SCALAR ARRAY HASH IO)) {
        my @names = names( $package, $kind ) or next;
        push @out, "<h3>$kind</h3>\n", map { entry( $r, $package, $_, $kind ) . "<br>\n" } @names;
    }
    push @out, '<hr><a href="' . Apache::Status::base($r) . '/' . escape($package) . '?package_size">Memory Usage</a>'
      if Apache::Status::Memory::is_allowed($r);
    return \@out;
}

sub names ( $package, $kind ) {
    no strict 'refs';
    return sort grep { !/::\z/ && has( $package, $_, $kind ) } keys %{"${package}::"};
}

# An entry may be a constant or a declaration instead of a glob.
sub has ( $package, $name, $kind ) {
    no strict 'refs';
    return exists &{"${package}::$name"} if $kind eq 'CODE';
    my $glob = \${"${package}::"}{$name};
    return if ref $glob ne 'GLOB';
    my $value = *{$glob}{$kind};
    return $kind eq 'SCALAR' ? defined $$value : defined $value;
}

sub entry ( $r, $package, $name, $kind ) {
    my $shown = escape($name);
    return $shown if $kind eq 'IO' || $name !~ /\A\w+\z/;
    my @ways = Apache::Status::Look::ways( $r, $kind ) or return $shown;
    return '<a href="' . Apache::Status::base($r) . '/' . escape("${package}::$name") . "/$kind?$ways[0]\">$shown</a>";
}

1;

__END__

=head1 NAME

Apache::Status::Package - the symbol table of a package, for Apache::Status

=head1 SYNOPSIS

    my $html = Apache::Status::Package::page( $r, 'My::Module', '', '' );

=cut
