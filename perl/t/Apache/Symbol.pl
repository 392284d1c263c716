# Apache::Symbol: undefines the subs of a package, and finds names; run by packages.t

use v5.36;

sub My::Symbols::make { eval 'package My::Symbols::Own; use List::Util "sum"; sub one { 1 } sub two { 2 } use constant PI => 3; 1' or die $@; return }    ## no critic: a package at run time
sub My::Symbols::left { return join '|', map { defined &{ \&{"My::Symbols::Own::$_"} } ? 'there' : 'gone' } qw(one two sum) }

return {
    undef_functions_undefines_subs            => [ sub ($r) { My::Symbols::make(); Apache::Symbol::undef_functions('My::Symbols::Own'); My::Symbols::left() }, 'gone|gone|there' ],
    undef_functions_skips_by_pattern          => [ sub ($r) { My::Symbols::make(); Apache::Symbol::undef_functions( 'My::Symbols::Own', 'two$' ); My::Symbols::left() }, 'gone|there|there' ],
    a_missing_package_is_ignored              => [ sub ($r) { Apache::Symbol::undef_functions('No::Such'); 'quiet' }, 'quiet' ],
    an_invalid_pattern_does_no_harm           => [ sub ($r) { eval { Apache::Symbol::undef_functions( 'My::Symbols::Own', '(' ) }; $@ }, qr/\A(?:Unmatched \(|\z)/ ],
    sv_name_names_a_sub                       => [ sub ($r) { Apache::Symbol::sv_name( \&My::Symbols::make ) . Apache::Symbol::sv_name( sub { 1 } ) }, qr/\AMy::Symbols::make.*__ANON__\z/ ],
    file2class_names_the_class_of_a_module    => [ sub ($r) { join '|', map { Apache::Symbol::file2class($_) } 'My/Module.pm', 'script.pl' }, 'My::Module|script.pl' ],
    cv_const_sv_gives_the_value_of_a_constant => [ sub ($r) { My::Symbols::make(); Apache::Symbol::cv_const_sv( \&My::Symbols::Own::PI ) . ( Apache::Symbol::cv_const_sv( \&My::Symbols::left ) // 'undef' ) }, '3undef' ],
    handler_returns_ok                        => [ sub ($r) { Apache::Symbol::handler() }, '0' ],
};
