# GTop::Process: times, user and state of a process; run by packages.t

use v5.36;

return {
    a_process_has_four_times       => [ sub ($r) { require GTop; my $t = GTop->new->proc_time($$); join '|', map { $t->$_ >= 0 ? $_ : "no $_" } qw(utime stime start_time frequency) }, 'utime|stime|start_time|frequency' ],
    a_process_has_user_and_parent  => [ sub ($r) { require GTop; my $u = GTop->new->proc_uid($$); ( $u->uid == $< ) . ( $u->ppid == getppid ) }, '11' ],
    a_process_has_its_command      => [ sub ($r) { require GTop; GTop->new->proc_state($$)->cmd }, qr/\Acameleer/ ],
    a_missing_process_has_no_times => [ sub ($r) { require GTop; eval { GTop->new->proc_time(4194305)->utime } // 'undef' }, qr/\A(?:0|undef)\z/ ],
};
