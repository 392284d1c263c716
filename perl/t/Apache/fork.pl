# Apache::fork: forks a child with an exit code, and reads its options; run by packages.t

use v5.36;

return {
    child_exit_ends_the_child_with_its_code => [ sub ($r) { my $pid = Apache::fork::fork(); Apache::fork::child_exit(3) if !$pid; waitpid $pid, 0; $? >> 8 }, '3' ],
    child_exit_without_a_code_is_0          => [ sub ($r) { my $pid = Apache::fork::fork(); Apache::fork::child_exit() if !$pid; waitpid $pid, 0; $? }, '0' ],
    forkoption_returns_the_old_value        => [ sub ($r) { my $old = Apache::fork::forkoption(0); my $set = Apache::fork::forkoption(); Apache::fork->forkoption($old); "$old$set" . Apache::fork::forkoption() }, '303' ],
    forkoption_0_forks_as_perl_does         => [ sub ($r) { my $old = Apache::fork::forkoption(0); my $pid = Apache::fork::fork(); Apache::fork::child_exit(4) if !$pid; waitpid $pid, 0; Apache::fork::forkoption($old); $? >> 8 }, '4' ],
    import_offers_both_subs                 => [ sub ($r) { package My::Forking; Apache::fork->import; join '|', map { My::Forking->can($_) ? 'there' : 'none' } qw(fork forkoption) }, 'there|there' ],
};
