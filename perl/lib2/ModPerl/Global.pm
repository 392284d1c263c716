package ModPerl::Global;

use v5.36;

use Apache::Registry ();

# END blocks of registered packages, which perl would otherwise run at the end of the process.
my %END_BLOCKS;

# Collects END blocks that are compiled in the package from now on.
sub special_list_register ( $list, $package ) {
    return 0 if $list ne 'END';
    $END_BLOCKS{$package} //= [];
    return 1;
}

# Runs the package's blocks, last one first, as perl does. The blocks stay for the next call.
sub special_list_call ( $list, $package ) {
    my $blocks = _blocks( $list, $package ) // return 0;
    $_->() for @$blocks;
    return 1;
}

sub special_list_clear ( $list, $package ) {
    my $blocks = _blocks( $list, $package ) // return 0;
    @$blocks = ();
    return 1;
}

# Includes blocks that were compiled since the last call.
sub _blocks ( $list, $package ) {
    my $blocks = $list eq 'END' ? $END_BLOCKS{$package} : undef;
    unshift @$blocks, Apache::Registry::_take_end_blocks_of($package) if $blocks;
    return $blocks;
}

1;

__END__

=head1 NAME

ModPerl::Global - END blocks that run on demand

=head1 SYNOPSIS

    use ModPerl::Global ();

    ModPerl::Global::special_list_register( END => 'My::Script' );
    eval q{package My::Script; END { print "done\n" }};
    ModPerl::Global::special_list_call( END => 'My::Script' );     # may be repeated
    ModPerl::Global::special_list_clear( END => 'My::Script' );

=cut
