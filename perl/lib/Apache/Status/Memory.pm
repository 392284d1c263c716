package Apache::Status::Memory;

use v5.36;

use Apache::Status::Pages ();
use Cameleer::HTML        qw(escape);

# The option has two names: StatusTerseSize in mod_perl's manual, StatusPackageSize in its code.
sub is_allowed ($r) {
    my $is_on = grep { Apache::Status::is_on( $r, $_ ) } qw(StatusTerseSize StatusPackageSize);
    return $is_on && $INC{'B/TerseSize.pm'};
}

# Memory usage of one package: its totals, then its subs, largest first.
sub page ( $r, $package ) {
    return ['<p>Not allowed here; see StatusTerseSize.</p>'] if !is_allowed($r);
    my ( $subs, $count, $size ) = B::TerseSize::package_size($package);
    my $width = longest( keys %$subs );
    my @lines =
      map { line( $_, $subs->{$_}, $width ) } sort { $subs->{$b}{size} <=> $subs->{$a}{size} || $a cmp $b } keys %$subs;
    return [
        '<h2>Memory Usage for package ' . escape($package) . "</h2>\n<pre>",
        "Totals: $size bytes | $count OPs\n\n",
        @lines, "</pre>\n"
    ];
}

sub line ( $name, $of, $width ) {
    return escape( sprintf '%-*s %5d bytes | %3d OPs', $width, $name, $of->{size}, $of->{count} ) . "\n";
}

sub longest (@words) {
    return ( sort { $b <=> $a } map { length } @words )[0] // 0;
}

# Memory usage of all packages. The sum counts a shared sub in each package that has it.
sub all_packages ( $r, $q ) {
    return ['<p>Not allowed here; see StatusTerseSizeMainSummary.</p>']
      if !Apache::Status::is_on( $r, 'StatusTerseSizeMainSummary' );
    my ( @rows, $all_size, $all_count );
    for my $package ( map { s{/}{::}gr =~ s/\.pm\z//r } grep { /\.pm\z/ } keys %INC ) {
        my ( undef, $count, $size ) = B::TerseSize::package_size($package);
        push @rows, [ $package, $size, $count ];
        $all_size  += $size;
        $all_count += $count;
    }
    my @shown =
      map { [ Apache::Status::Pages::link_to( $r, $_->[0] ), $_->[1], $_->[2] ] } sort { $b->[1] <=> $a->[1] } @rows;
    return [
        "<p>Totals: $all_size bytes | $all_count OPs</p>\n",
        @{ Apache::Status::Pages::table( [ 'Package', 'Bytes', 'OPs' ], @shown ) }
    ];
}

1;

__END__

=head1 NAME

Apache::Status::Memory - the Memory Usage pages of Apache::Status

=head1 SYNOPSIS

    my $html = Apache::Status::Memory::page( $r, 'My::Module' );    # Totals: 1966 bytes | 27 OPs ...

=cut
