# Apache::Phases: pushes, replaces and lists the handlers of a phase; run by packages.t

use v5.36;

return {
    push_handlers_adds_a_handler                     => [ sub ($r) { $r->push_handlers( PerlLogHandler => sub { 0 } ); scalar @{ $r->get_handlers('PerlLogHandler') } }, '1' ],
    push_handlers_accepts_a_list                     => [ sub ($r) { $r->push_handlers( PerlLogHandler => [ 'A::a', 'A::b' ] ); my $s = "@{ $r->get_handlers('PerlLogHandler') }"; $r->set_handlers( PerlLogHandler => undef ); $s }, 'A::a A::b' ],
    set_handlers_replaces_handlers                   => [ sub ($r) { $r->push_handlers( PerlLogHandler => sub { 0 } ); $r->set_handlers( PerlLogHandler => [ sub { 0 }, sub { 0 } ] ); scalar @{ $r->get_handlers('PerlLogHandler') } }, '2' ],
    set_handlers_with_an_empty_list_removes_handlers => [ sub ($r) { $r->push_handlers( PerlLogHandler => sub { 0 } ); $r->set_handlers( PerlLogHandler => [] ); scalar @{ $r->get_handlers('PerlLogHandler') } }, '0' ],
    a_pushed_handler_runs_after_the_current_one      => [ sub ($r) { $r->push_handlers( PerlHandler => sub ($r) { $r->print('pushed'); 0 } ); 'own, ' }, 'own, pushed' ],
    a_list_of_handlers_runs_in_order                 => [ sub ($r) { $r->push_handlers( PerlHandler => [ map { my $n = $_; sub ($r) { $r->print($n); 0 } } 1 .. 3 ] ); '' }, '123' ],
    an_exit_ends_one_handler_only                    => [ sub ($r) { $r->push_handlers( PerlHandler => [ sub ($r) { exit }, sub ($r) { $r->print('next'); 0 } ] ); '' }, 'next' ],
    an_unknown_phase_dies                            => [ sub ($r) { eval { $r->push_handlers( PerlNoSuchHandler => sub { 0 } ) }; $@ }, qr/\Athere is no phase PerlNoSuchHandler at \S+Phases\.pl line \d+/ ],
    current_callback_is_the_running_phase            => [ sub ($r) { $r->current_callback }, 'PerlHandler' ],
    perl_hook_knows_the_phases                       => [ sub ($r) { ( $r->perl_hook('Trans') ? 'there' : 'none' ) . ( $r->perl_hook('Nonsense') ? 'there' : 'none' ) }, 'therenone' ],
    a_handler_is_pushed_for_the_process              => [
        sub ($r) {
            my $before = @{ Apache->get_handlers('PerlChildExitHandler') };
            Apache->push_handlers( PerlChildExitHandler => sub { 0 } );
            my $after = @{ Apache->get_handlers('PerlChildExitHandler') };
            Apache->set_handlers( PerlChildExitHandler => undef );
            $after - $before;
        },
        '1',
    ],
    leaks_nothing                                    => [ sub ($r) { TestServer::growth( sub { $r->push_handlers( PerlLogHandler => sub { 0 } ); $r->set_handlers( PerlLogHandler => undef ) } ) }, 'steady' ],
};
