# Apache::Phases: pushes, replaces and lists the handlers of a phase; run by packages.t

use v5.36;

return {
    pushed                           => [ sub ($r) { $r->push_handlers( PerlLogHandler => sub { 0 } ); scalar @{ $r->get_handlers('PerlLogHandler') } }, '1' ],
    list                             => [ sub ($r) { $r->push_handlers( PerlLogHandler => [ 'A::a', 'A::b' ] ); my $s = "@{ $r->get_handlers('PerlLogHandler') }"; $r->set_handlers( PerlLogHandler => undef ); $s }, 'A::a A::b' ],
    replaced                         => [ sub ($r) { $r->push_handlers( PerlLogHandler => sub { 0 } ); $r->set_handlers( PerlLogHandler => [ sub { 0 }, sub { 0 } ] ); scalar @{ $r->get_handlers('PerlLogHandler') } }, '2' ],
    emptied                          => [ sub ($r) { $r->push_handlers( PerlLogHandler => sub { 0 } ); $r->set_handlers( PerlLogHandler => [] ); scalar @{ $r->get_handlers('PerlLogHandler') } }, '0' ],
    later                            => [ sub ($r) { $r->push_handlers( PerlHandler => sub ($r) { $r->print('pushed'); 0 } ); 'own, ' }, 'own, pushed' ],
    a_list_of_handlers_runs_in_order => [ sub ($r) { $r->push_handlers( PerlHandler => [ map { my $n = $_; sub ($r) { $r->print($n); 0 } } 1 .. 3 ] ); '' }, '123' ],
    exits                            => [ sub ($r) { $r->push_handlers( PerlHandler => [ sub ($r) { exit }, sub ($r) { $r->print('next'); 0 } ] ); '' }, 'next' ],
    unknown                          => [ sub ($r) { eval { $r->push_handlers( PerlNoSuchHandler => sub { 0 } ) }; $@ }, qr/\Athere is no phase PerlNoSuchHandler at \S+Phases\.pl line \d+/ ],
    running                          => [ sub ($r) { $r->current_callback }, 'PerlHandler' ],
    hook                             => [ sub ($r) { ( $r->perl_hook('Trans') ? 'there' : 'none' ) . ( $r->perl_hook('Nonsense') ? 'there' : 'none' ) }, 'therenone' ],
    process                          => [
        sub ($r) {
            my $before = @{ Apache->get_handlers('PerlChildExitHandler') };
            Apache->push_handlers( PerlChildExitHandler => sub { 0 } );
            my $after = @{ Apache->get_handlers('PerlChildExitHandler') };
            Apache->set_handlers( PerlChildExitHandler => undef );
            $after - $before;
        },
        '1',
    ],
    leaks_nothing                    => [ sub ($r) { TestServer::growth( sub { $r->push_handlers( PerlLogHandler => sub { 0 } ); $r->set_handlers( PerlLogHandler => undef ) } ) }, 'steady' ],
};
