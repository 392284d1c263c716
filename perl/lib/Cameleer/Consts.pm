package Cameleer::Consts;

use v5.36;
use Carp ();

# By package: its groups, each a list of names, and the value of each name.
my %OFFERED;

# Group, name, value; and so on. A name may be in several groups; a value that is a code reference is called when it is first wanted.
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

# `-compile` makes them subs of the package only; without it they are the caller's too. Who names none gets the common ones.
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

# The names behind names and groups, each of them a sub from now on.
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
    # An empty prototype, not a signature: perl inlines it, and a method call is no error.
    no feature 'signatures';
    *{"${package}::$name"} = sub () { $constant };
    return;
}

1;

__END__

=head1 NAME

Cameleer::Consts - constants that are made when somebody asks for them

=head1 SYNOPSIS

    package My::Const;
    use Cameleer::Consts ();
    Cameleer::Consts::offer( __PACKAGE__, common => OK => 0, common => DECLINED => -1, http => HTTP_GONE => 410 );

    # elsewhere
    My::Const->import( -compile => qw(:common HTTP_GONE) );    # My::Const::HTTP_GONE()
    My::Const->import('OK');                                   # also OK() here

=head1 DESCRIPTION

What C<APR::Const>, C<Apache2::Const> and C<ModPerl::Const> have in common. Several hundred names cost nothing until they are wanted.

=cut
