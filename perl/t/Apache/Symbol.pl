# Apache::Symbol: undefines the subs of a package, and finds names; run by packages.t

use v5.36;

sub My::Symbols::make { eval 'package My::Symbols::Own; use List::Util "sum"; sub one { 1 } sub two { 2 } use constant PI => 3; 1' or die $@; return }    ## no critic: a package at run time
sub My::Symbols::left { return join '|', map { defined &{ \&{"My::Symbols::Own::$_"} } ? 'there' : 'gone' } qw(one two sum) }

return {
    all                             => [ sub ($r) { My::Symbols::make(); Apache::Symbol::undef_functions('My::Symbols::Own'); My::Symbols::left() }, 'gone|gone|there' ],
    skip                            => [ sub ($r) { My::Symbols::make(); Apache::Symbol::undef_functions( 'My::Symbols::Own', 'two$' ); My::Symbols::left() }, 'gone|there|there' ],
    a_missing_package_is_ignored    => [ sub ($r) { Apache::Symbol::undef_functions('No::Such'); 'quiet' }, 'quiet' ],
    an_invalid_pattern_does_no_harm => [ sub ($r) { eval { Apache::Symbol::undef_functions( 'My::Symbols::Own', '(' ) }; $@ }, qr/\A(?:Unmatched \(|\z)/ ],
    name                            => [ sub ($r) { Apache::Symbol::sv_name( \&My::Symbols::make ) . Apache::Symbol::sv_name( sub { 1 } ) }, qr/\AMy::Symbols::make.*__ANON__\z/ ],
    class                           => [ sub ($r) { join '|', map { Apache::Symbol::file2class($_) } 'My/Module.pm', 'script.pl' }, 'My::Module|script.pl' ],
    constant                        => [ sub ($r) { My::Symbols::make(); Apache::Symbol::cv_const_sv( \&My::Symbols::Own::PI ) . ( Apache::Symbol::cv_const_sv( \&My::Symbols::left ) // 'undef' ) }, '3undef' ],
    restart                         => [ sub ($r) { Apache::Symbol::handler() }, '0' ],
};
