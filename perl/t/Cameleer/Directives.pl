# Cameleer::Directives: parses and calls the directives that a module defines; run by packages.t

use v5.36;

sub My::Directives::ask ($code) { return eval { $code->() } // $@ }

return {
    args_how_sets_the_number_of_words   => [ sub ($r) { join '', map { Cameleer::Directives::takes(@$_) ? 1 : 0 } [ TAKE1 => 1 ], [ TAKE1 => 2 ], [ TAKE12 => 2 ], [ TAKE13 => 2 ], [ TAKE123 => 0 ], [ ITERATE => 5 ], [ ITERATE2 => 1 ], [ NO_ARGS => 0 ], [ NO_ARGS => 1 ] }, '101001010' ],
    req_override_is_a_sum_of_places     => [ sub ($r) { Cameleer::Directives::override_of('OR_ALL | RSRC_CONF') . '|' . Cameleer::Directives::override_of(64) }, '159|64' ],
    an_unknown_place_is_reported        => [ sub ($r) { My::Directives::ask( sub { Cameleer::Directives::override_of('OR_NOWHERE') } ) }, "req_override: there is no OR_NOWHERE\n" ],
    an_undefined_directive_is_reported  => [ sub ($r) { My::Directives::ask( sub { Cameleer::Directives::row_of( 'NoSuch', '' ) } ) }, "NoSuch: the module that defines it is not loaded\n" ],
    register_adds_a_directive           => [ sub ($r) { Cameleer::Directives::register( 'My::Directives', { name => 'Paint', func => 'paint', args_how => 'TAKE1' } ); Cameleer::Directives::knows('PAINT') . Cameleer::Directives::row_of( 'paint', '' )->{name} }, '1Paint' ],
    a_name_in_brackets_is_a_section     => [ sub ($r) { Cameleer::Directives::register( 'My::Directives', { name => '<Palette>', func => 'palette', args_how => 0 } ); my $row = Cameleer::Directives::row_of( 'palette', 'x>' ); "$row->{name} $row->{args_how} " . My::Directives::ask( sub { Cameleer::Directives::row_of( 'Palette', 'x' ) } ) }, "<Palette RAW_ARGS Palette: is a container; write <Palette ...>\n" ],
    a_missing_sub_is_reported           => [ sub ($r) { My::Directives::ask( sub { Cameleer::Directives::call( { name => 'None', func => 'My::None::none', args_how => 'TAKE1' }, {}, {}, '', 'a' ) } ) }, "None: there is no sub My::None::none\n" ],
    a_flag_is_on_or_off                 => [ sub ($r) { my $row = { name => 'Wet', func => sub { $_[2] }, args_how => 'FLAG' }; join '', ( map { Cameleer::Directives::call( $row, {}, {}, $_, $_ ) } qw(On off) ), My::Directives::ask( sub { Cameleer::Directives::call( $row, {}, {}, 'x', 'x' ) } ) }, "10Wet: expected On or Off, got \"x\"\n" ],
    too_many_words_are_reported         => [ sub ($r) { My::Directives::ask( sub { Cameleer::Directives::call( { name => 'One', func => sub { 1 }, args_how => 'TAKE1', errmsg => 'a color' }, {}, {}, 'a b', 'a', 'b' ) } ) }, "One: a color, got 2\n" ],
    an_unknown_args_how_is_reported     => [ sub ($r) { My::Directives::ask( sub { Cameleer::Directives::call( { name => 'Odd', func => sub { 1 }, args_how => 'TAKE99' }, {}, {}, 'a', 'a' ) } ) }, "Odd: its module has an unknown args_how TAKE99\n" ],
    iterate_calls_the_sub_for_each_word => [ sub ($r) { my @seen; Cameleer::Directives::call( { name => 'Each', func => sub { push @seen, "@_[2 .. $#_]" }, args_how => $_ }, {}, {}, '', qw(a b c) ) for qw(ITERATE ITERATE2); join '|', @seen }, 'a|b|c|a b|a c' ],
    a_die_reaches_the_caller            => [ sub ($r) { My::Directives::ask( sub { Cameleer::Directives::call( { name => 'Dies', func => sub { die "no pink here\n" }, args_how => 'TAKE1' }, {}, {}, 'a', 'a' ) } ) }, "no pink here\n" ],
    an_unset_configuration_is_undef     => [ sub ($r) { Cameleer::Directives::config_of( $r, 'My::Unset' ) // 'undef' }, 'undef' ],
};
