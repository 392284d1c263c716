package ModPerl::Global;

use v5.36;

use Apache::Registry ();

# By package: its END blocks, once it is registered. Perl would keep them for the end of the process.
my %END_BLOCKS;

# From now on blocks that are compiled in the package are set aside.
sub special_list_register ( $list, $package ) {
    return 0 if $list ne 'END';
    $END_BLOCKS{$package} //= [];
    return 1;
}

# Runs the package's blocks, the last one first, as perl does. They stay for the next call.
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

# With those that were compiled since the last time.
sub _blocks ( $list, $package ) {
    my $blocks = $list eq 'END' ? $END_BLOCKS{$package} : undef;
    unshift @$blocks, Apache::Registry::_take_end_blocks_of($package) if $blocks;
    return $blocks;
}

1;

__END__

=head1 NAME

ModPerl::Global - END blocks that run when somebody says so

=head1 SYNOPSIS

    use ModPerl::Global ();

    ModPerl::Global::special_list_register( END => 'My::Script' );
    eval q{package My::Script; END { print "done\n" }};
    ModPerl::Global::special_list_call( END => 'My::Script' );     # as often as is wanted
    ModPerl::Global::special_list_clear( END => 'My::Script' );

=cut
