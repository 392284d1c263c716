# APR::Pool: cleanups, nested pools, and the use of a destroyed pool; run by packages.t

use v5.36;

return {
    destroy_runs_the_last_cleanup_first    => [ sub ($r) { my $s = ''; my $p = APR::Pool->new; $p->cleanup_register( sub { $s .= $_[0] }, $_ ) for 1 .. 3; $p->destroy; $s }, '321' ],
    a_dying_cleanup_stops_no_other         => [ sub ($r) { my $s = ''; local $SIG{__WARN__} = sub { $s .= "@_" }; my $p = APR::Pool->new; $p->cleanup_register( sub { $s .= 'next ' } ); $p->cleanup_register( sub { die "in a cleanup\n" } ); $p->destroy; $s }, "APR::Pool: cleanup died: in a cleanup\nnext " ],
    a_pool_is_the_ancestor_of_its_children => [ sub ($r) { my $p = APR::Pool->new; my $q = $p->new; ( $p->is_ancestor($q) ? 1 : 0 ) . ( $q->is_ancestor($p) ? 1 : 0 ) . ref $q->parent_get }, '10APR::Pool' ],
    a_destroyed_pool_is_invalid            => [ sub ($r) { my $p = APR::Pool->new; $p->destroy; $p->destroy; eval { $p->tag('x'); 1 } ? 'tagged' : $@ }, qr/\Ainvalid pool object/ ],
    clear_runs_a_cleanup_once              => [ sub ($r) { my $n = 0; my $p = APR::Pool->new; $p->cleanup_register( sub { $n++ } ); $p->clear; $p->clear; $n }, '1' ],
    leaks_nothing                          => [ sub ($r) { TestServer::growth( sub { my $p = APR::Pool->new; $p->cleanup_register( sub { 1 }, [1] ); my $q = $p->new } ) }, 'steady' ],
};
