# Apache::Leak: counts the values that code leaves in memory; run by packages.t

use v5.36;

return {
    freed_values_do_not_count    => [ sub ($r) { &Apache::Leak::leak_test( sub { my $own = { a => [1] } } ) }, '0' ],
    kept_values_count            => [ sub ($r) { my @kept; &Apache::Leak::leak_test( sub { push @kept, [ 1 .. 50 ] } ) > 50 ? 'many' : 'few' }, 'many' ],
    a_die_reaches_the_caller     => [ sub ($r) { eval { &Apache::Leak::leak_test( sub { die "in the test\n" } ) }; $@ }, "in the test\n" ],
    note_sv_counts_values        => [ sub ($r) { my $said = Apache::Leak::NoteSV( my $before ); $said == $before && $before > 1000 ? 'counted' : $before }, 'counted' ],
    check_sv_finds_no_new_values => [ sub ($r) { Apache::Leak::CheckSV( Apache::Leak::count() + 1000 ) }, '0' ],
    note_sv_accepts_a_constant   => [ sub ($r) { Apache::Leak::NoteSV(7) > 7 ? 'a constant stays' : 'few' }, 'a constant stays' ],
    small_code_adds_no_arena     => [ sub ($r) { my $before = Apache::Leak::arenas(); TestServer::growth( sub { my @own = 1 .. 10 } ); Apache::Leak::arenas() - $before }, '0' ],
};
