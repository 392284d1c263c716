# GTop: memory of a process and of the machine; run by packages.t

use v5.36;

return {
    process                         => [ sub ($r) { my $m = GTop->new->proc_mem($$); $m->size > $m->share && $m->vsize > $m->size ? 'in order' : 'wrong' }, 'in order' ],
    a_missing_process_has_no_memory => [ sub ($r) { GTop->new->proc_mem(4194305)->size }, '0' ],
    machine                         => [ sub ($r) { my $m = GTop->new->mem; $m->used + $m->free == $m->total ? 'adds up' : 'wrong' }, 'adds up' ],
    sizes                           => [ sub ($r) { join '|', map { GTop::size_string($_) } 0, 10, 2048, 1572864 }, '0k|1k|2k|1.5M' ],
    unknown                         => [ sub ($r) { eval { GTop->new->mem->nonsense }; $@ }, qr/\AGTop has no field nonsense here/ ],
    leaks_nothing                   => [ sub ($r) { TestServer::growth( sub { GTop->new->proc_mem($$)->size } ) }, 'steady' ],
};
