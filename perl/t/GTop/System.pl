# GTop::System: processors, uptime, load and swap of the machine; run by packages.t

use v5.36;

return {
    the_times_of_the_processor_add_up => [ sub ($r) { require GTop; my $c = GTop->new->cpu; $c->user + $c->nice + $c->sys + $c->idle == $c->total ? 'adds up' : 'wrong' }, 'adds up' ],
    the_machine_is_up                 => [ sub ($r) { require GTop; GTop->new->uptime->uptime > 0 ? 'up' : 'none' }, 'up' ],
    the_load_has_three_averages       => [ sub ($r) { require GTop; my $l = GTop->new->loadavg; @{ $l->loadavg } . ( $l->nr_tasks >= $l->nr_running ? ' tasks' : '' ) }, '3 tasks' ],
    used_and_free_swap_add_up         => [ sub ($r) { require GTop; my $s = GTop->new->swap; $s->used + $s->free == $s->total ? 'adds up' : 'wrong' }, 'adds up' ],
};
