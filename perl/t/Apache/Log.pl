# Apache::Log: levels, messages and code that makes messages; run by packages.t

use v5.36;

return {
    the_log_has_the_class_of_its_object  => [ sub ($r) { join '|', ref $r->log, ref $r->server->log, $r->log->isa('Apache::Log') }, 'Apache::Log::Request|Apache::Log::Server|1' ],
    each_level_has_its_number            => [ sub ($r) { join '', map { Apache::Log->can($_)->() } qw(EMERG ALERT CRIT ERR WARNING NOTICE INFO DEBUG) }, '01234567' ],
    a_hidden_level_does_not_run_code     => [ sub ($r) { my $ran = 0; $r->log->debug( sub { $ran++; 'text' } ); $ran }, '0' ],
    a_written_level_runs_code_once       => [ sub ($r) { my $ran = 0; $r->log->error( 'a ', sub { $ran++; 'text' }, undef ); $ran }, '1' ],
    loglevel_opens_a_level               => [ sub ($r) { my $s = $r->server; my $old = $s->loglevel(7); my $ran = 0; $s->log->debug( sub { $ran++; '' } ); $s->loglevel($old); "$ran" . $s->loglevel }, qr/\A1[0-6]\z/ ],
    a_die_of_the_code_reaches_the_caller => [ sub ($r) { eval { $r->log->error( sub { die "in the text\n" } ) }; $@ }, "in the text\n" ],
    long_names_of_levels_work            => [ sub ($r) { join '|', map { Apache::Log->can($_) == Apache::Log->can( $_ eq 'emergency' ? 'emerg' : 'crit' ) } qw(emergency critical) }, '1|1' ],
    new_refuses_a_text                   => [ sub ($r) { eval { Apache::Log->new('text') }; $@ ? 'died' : 'made' }, 'died' ],
    leaks_nothing                        => [ sub ($r) { TestServer::growth( sub { $r->log->debug('never written') } ) }, 'steady' ],
};
