package Cameleer::Constants;

use v5.36;

# By package: the value of each name, the names of each group.
my ( %VALUES, %GROUPS );

# Groups: a text of names and values each, `\\x0d` in a value is a byte.
sub define ( $package, $groups ) {
    for my $group ( keys %$groups ) {
        my @words = split ' ', $groups->{$group};
        while ( my ( $name, $value ) = splice @words, 0, 2 ) {
            $value =~ s/\\x(..)/chr hex $1/ge;
            $VALUES{$package}{$name} = $value =~ /\A-?\d+\z/ ? 0 + $value : $value;
            push @{ $GROUPS{$package}{$group} }, $name;
        }
    }
    return;
}

# `-compile => names` makes them subs of the package; without it they become subs of the caller.
sub import ( $package, @wanted ) {
    my $is_compiled = @wanted && $wanted[0] eq '-compile';
    shift @wanted if $is_compiled;
    my $into = $is_compiled ? $package : caller;
    for my $name ( map { ref eq 'ARRAY' ? @$_ : $_ } @wanted ) {
        install( $package, $into, $_ ) for $name =~ /\A:(.*)/ ? group( $package, $1 ) : $name;
    }
    return;
}

sub group ( $package, $name ) {
    return @{ $GROUPS{$package}{$name} // croak("unknown group `$name'") };
}

sub install ( $package, $into, $name ) {
    no strict 'refs';
    my $full = "${package}::$name";
    if ( !defined &$full ) {
        my $value = $VALUES{$package}{$name} // croak("unknown constant $name");
        *$full = sub () { $value };
    }
    *{"${into}::$name"} = \&$full if $into ne $package;
    return;
}

sub croak ($message) {
    require Carp;
    local $Carp::CarpLevel = 2;
    Carp::croak($message);
}

1;

__END__

=head1 NAME

Cameleer::Constants - constants of mod_perl 2's API, made when they are asked for

=head1 SYNOPSIS

    Cameleer::Constants::define( __PACKAGE__, { common => 'OK 0 DECLINED -1' } );
    sub import { goto &Cameleer::Constants::import }

=cut
