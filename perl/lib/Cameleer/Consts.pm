package Cameleer::Consts;

use v5.36;
use Carp ();

# The groups of each package, each a list of names, and the value of each name.
my %OFFERED;

# Adds triples of group, name and value. A name may be in several groups; a code reference is called for its
# value on first use.
sub offer ( $package, @triples ) {
    my $offered = $OFFERED{$package} //= { groups => {}, values => {} };
    while ( my ( $group, $name, $value ) = splice @triples, 0, 3 ) {
        push @{ $offered->{groups}{$group} }, $name;
        $offered->{values}{$name} = $value;
    }
    no strict 'refs';
    *{"${package}::import"}  = \&_import;
    *{"${package}::compile"} = \&_compile;
    return;
}

# With `-compile` names become subs of the package only, otherwise also of the caller. Without names, the common
# ones are imported.
sub _import ( $package, @wanted ) {
    my $into = caller;
    @wanted = (':common') if !@wanted && $OFFERED{$package}{groups}{common};
    my @names = _names( $package, grep { $_ ne '-compile' } @wanted );
    return if grep { $_ eq '-compile' } @wanted;
    no strict 'refs';
    *{"${into}::$_"} = \&{"${package}::$_"} for @names;
    return;
}

sub _compile ( $package, @wanted ) { _names( $package, @wanted ); return }

# Expands groups to names, and defines a sub for each.
sub _names ( $package, @wanted ) {
    my $offered = $OFFERED{$package};
    my @names;
    for my $wanted (@wanted) {
        my ($group) = $wanted =~ /\A:(.*)/s;
        Carp::croak("unknown $package group `$group'") if defined $group && !$offered->{groups}{$group};
        Carp::croak("unknown $package constant $wanted") if !defined $group && !exists $offered->{values}{$wanted};
        push @names, defined $group ? @{ $offered->{groups}{$group} } : $wanted;
    }
    _define( $package, $_, $offered->{values}{$_} ) for @names;
    return @names;
}

sub _define ( $package, $name, $value ) {
    no strict 'refs';
    return if defined &{"${package}::$name"};
    my $constant = ref $value eq 'CODE' ? $value->() : $value;
    # An empty prototype instead of a signature: perl inlines the sub, and method calls are allowed.
    no feature 'signatures';
    *{"${package}::$name"} = sub () { $constant };
    return;
}

1;

__END__

=head1 NAME

Cameleer::Consts - constants that are defined on first use

=head1 SYNOPSIS

    package My::Const;
    use Cameleer::Consts ();
    Cameleer::Consts::offer( __PACKAGE__, common => OK => 0, common => DECLINED => -1, http => HTTP_GONE => 410 );

    # elsewhere
    My::Const->import( -compile => qw(:common HTTP_GONE) );    # My::Const::HTTP_GONE()
    My::Const->import('OK');                                   # also OK() here

=head1 DESCRIPTION

Common code of C<APR::Const>, C<Apache2::Const> and C<ModPerl::Const>. Several hundred names cost
nothing until they are used.

=cut
