# Cameleer::Deadline: the message of a timeout shows the Perl stack; run by packages.t

use v5.36;

sub My::Deep::down ($left) { return $left ? My::Deep::down( $left - 1 ) : Cameleer::Deadline::stack() }

return {
    the_stack_is_listed         => [ sub ($r) { My::Deep::down(1) }, qr/\ARequestTimeout has passed; Perl was here, innermost first:\n(?:  \S.* at \S+ line \d+\n){2,}\z/ ],
    the_innermost_call_is_first => [ sub ($r) { My::Deep::down(1) =~ /first:\n  (\S+) at/ ? $1 : 'none' }, 'My::Deep::down' ],
    a_deep_stack_is_cut         => [ sub ($r) { no warnings 'recursion'; my @lines = split /\n/, My::Deep::down(300); @lines . " $lines[-1]" }, '202   ...' ],
};
