# Cameleer::ProcessLimit: which limit a process exceeds, and when it is checked; run by packages.t

use v5.36;

sub My::Limit::reason ( %limit ) { return Cameleer::ProcessLimit::exceeded( \%limit, { size => 100, share => 50, unshared => 50 } ) // 'none' }

return {
    a_process_within_its_limits_stays             => [ sub ($r) { My::Limit::reason() . My::Limit::reason( size => 100, share => 50, unshared => 50 ) . My::Limit::reason( size => 0 ) }, 'nonenonenone' ],
    a_size_over_the_limit_is_the_reason           => [ sub ($r) { My::Limit::reason( size => 99 ) }, 'the size of the process is over 99k' ],
    a_share_under_the_limit_is_the_reason         => [ sub ($r) { My::Limit::reason( share => 51 ) }, 'the process shares less than 51k' ],
    an_unshared_part_over_the_limit_is_the_reason => [ sub ($r) { My::Limit::reason( unshared => 49 ) }, 'the unshared part is over 49k' ],
    install_setters_makes_setters                 => [ sub ($r) { my $value; Cameleer::ProcessLimit::install_setters( 'My::Limit', set_value => \$value ); My::Limit->set_value(5); join '|', "$value", My::Limit::set_value(6), $value }, '5|6|6' ],
    only_every_nth_request_is_checked             => [
        sub ($r) {
            my $looked = 0;
            my $limit  = Cameleer::ProcessLimit->new( name => 'My', debug => sub { 0 }, limits => sub { () } );
            no warnings 'redefine';
            local *Cameleer::ProcessLimit::look_later = sub { $looked++ };
            $limit->watch( $r, 3 ) for 1 .. 7;
            $looked;
        },
        '2',
    ],
    watch_adds_one_cleanup                        => [ sub ($r) { my $before = @Apache::CLEANUPS; my $limit = Cameleer::ProcessLimit->new( name => 'My', debug => sub { 0 }, limits => sub { () } ); $limit->watch( $r, undef ) for 1 .. 5; @Apache::CLEANUPS - $before }, '1' ],
};
