package B::TerseSize;

use v5.36;

use B        ();
use Apache   ();
use Cameleer::XS ();

our $VERSION = '0.10';

Cameleer::XS::load(__PACKAGE__);

my %SIZE_OF = op_sizes();
my $POINTER = length pack 'J', 0;

# The subs of a package by size: ({ name => { count, size } }, number of operators, bytes). Imported subs are
# included: the package has an entry for them.
sub package_size ($package) {
    no strict 'refs';
    my %subs;
    for my $name ( grep { !/::\z/ && exists &{"${package}::$_"} } keys %{"${package}::"} ) {
        my ( $count, $size ) = sub_size( \&{"${package}::$name"} );
        $subs{$name} = { count => $count, size => $size + length $name };
    }
    my ( $count, $size ) = ( 0, 0 );
    $count += $_->{count}, $size += $_->{size} for values %subs;
    return ( \%subs, $count, $size );
}

# (operators, bytes) of one sub: its value, pads and operators, and those of anonymous subs inside.
sub sub_size ($code) {
    my $cv   = B::svref_2object($code);
    my $size = value_size($code);
    return ( 0, $size ) if !$cv->isa('B::CV') || $cv->XSUB || ${ $cv->ROOT } == 0;
    my ( $count, $bytes ) = ops_size( $cv->ROOT );
    $size += $bytes + pad_size($cv);
    for my $inner ( inner_subs($cv) ) {
        my ( $more, $of_inner ) = sub_size( $inner->object_2svref );
        $count += $more;
        $size  += $of_inner;
    }
    return ( $count, $size );
}

# Excludes subs in the pad that belong to another sub.
sub inner_subs ($cv) {
    my ( undef, $pad ) = $cv->PADLIST->ARRAY;
    my $is_inner = sub ($sv) { $sv->isa('B::CV') && $sv->CvFLAGS & B::CVf_ANON() && ${ $sv->OUTSIDE } == $$cv };
    return grep { $is_inner->($_) } $pad->ARRAY;
}

# Calls `$do->($op, $level, $bytes)` for each operator of a sub, in tree order; returns (operators, bytes).
sub CV_walk ( $code, $do = sub { } ) {
    my $cv = B::svref_2object($code);
    return ( 0, 0 ) if $cv->XSUB || ${ $cv->ROOT } == 0;
    return ops_size( $cv->ROOT, 0, $do );
}

sub ops_size ( $op, $level = 0, $do = undef ) {
    my $own = op_size($op);
    my ( $count, $size ) = ( $op->name eq 'null' ? 0 : 1, $own );
    $do->( $op, $level, $own ) if $do;
    for my $kid ( kids($op) ) {
        my ( $more, $bytes ) = ops_size( $kid, $level + 1, $do );
        $count += $more;
        $size  += $bytes;
    }
    return ( $count, $size );
}

sub kids ($op) {
    my @kids;
    if ( $op->flags & B::OPf_KIDS() ) {
        for ( my $kid = $op->first ; $$kid ; $kid = $kid->sibling ) { push @kids, $kid }
    }
    my $replacement = $op->isa('B::PMOP') && $op->name eq 'subst' ? $op->pmreplroot : undef;
    push @kids, $replacement if ref $replacement && $replacement->isa('B::OP') && $$replacement;
    return @kids;
}

sub op_size ($op) {
    my $class = B::class($op);
    my $size  = $SIZE_OF{$class} // $SIZE_OF{OP};
    $size += length( $op->precomp // '' ) if $class eq 'PMOP';
    return $size;
}

# Size of the names, values and constants of a sub's variables, for each level of recursion.
sub pad_size ($cv) {
    my ( $names, @pads ) = $cv->PADLIST->ARRAY;
    my $size = 0;
    $size += length( $_->PV // '' ) + 4 * $POINTER for grep { $_->can('PV') } $names->ARRAY;
    for my $pad ( grep { $_->can('ARRAY') } @pads ) {
        $size += $POINTER;
        $size += value_size( $_->object_2svref ) for grep { is_own($_) } $pad->ARRAY;
    }
    return $size;
}

# The pad of a threaded perl also contains globs, which belong to their packages.
sub is_own ($sv) {
    return $sv->can('object_2svref') && !$sv->isa('B::SPECIAL') && !$sv->isa('B::GV') && !$sv->isa('B::CV');
}

1;

__END__

=head1 NAME

B::TerseSize - memory sizes of subs

=head1 SYNOPSIS

    PerlModule B::TerseSize
    PerlSetVar StatusTerseSize On

    my ( $subs, $ops, $bytes ) = B::TerseSize::package_size('My::Module');
    printf "Totals: %d bytes | %d OPs\n", $bytes, $ops;
    printf "%s %d bytes | %d OPs\n", $_, $subs->{$_}{size}, $subs->{$_}{count} for sort keys %$subs;

    my ( $count, $size ) = B::TerseSize::sub_size( \&My::Module::work );
    B::TerseSize::CV_walk( \&work, sub ( $op, $level, $bytes ) { print '  ' x $level, $op->name, " $bytes\n" } );

=head1 DESCRIPTION

Sizes are those of perl's own structures as the server was compiled: the sub's value, its operators,
the names and values of its variables and constants, and the same of anonymous subs inside. The
allocator's overhead and referenced values are not counted. Operators that perl optimized away count
as bytes but not as OPs.

An imported sub counts in each package that imported it.

=cut
