# Apache::SIG: sets and restores the handler of SIGPIPE; run by packages.t

use v5.36;

return {
    set_installs_a_handler             => [ sub ($r) { Apache::SIG::set(); Apache::SIG->set; ref $SIG{PIPE} }, 'CODE' ],
    unset_removes_the_handler          => [ sub ($r) { Apache::SIG::set(); Apache::SIG::unset(); Apache::SIG::unset(); defined $SIG{PIPE} ? 'left' : 'none' }, 'none' ],
    unset_restores_the_handler         => [ sub ($r) { local $SIG{PIPE} = 'IGNORE'; Apache::SIG::set(); my $during = ref $SIG{PIPE}; Apache::SIG::unset(); "$during $SIG{PIPE}" }, 'CODE IGNORE' ],
    handler_pushes_a_log_handler       => [ sub ($r) { Apache::SIG::handler($r) . scalar @{ $r->get_handlers('PerlLogHandler') } }, '-11' ],
    note_sets_the_variable_of_pipe_key => [ sub ($r) { local $Apache::SIG::PipeKey = 'GONE'; Apache::SIG::note($r); $r->subprocess_env('GONE') }, '1' ],
    sigpipe_ends_the_request           => [ sub ($r) { Apache::SIG::set(); print 'before'; kill PIPE => $$; print 'after'; '' }, 'before' ],
    the_next_request_has_no_handler    => [ sub ($r) { defined $SIG{PIPE} ? 'left' : 'none' }, 'none' ],
};
