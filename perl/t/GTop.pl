# GTop: memory of a process and of the machine; run by packages.t

use v5.36;

return {
    the_sizes_of_a_process_are_in_order => [ sub ($r) { my $m = GTop->new->proc_mem($$); $m->size > $m->share && $m->vsize > $m->size ? 'in order' : 'wrong' }, 'in order' ],
    a_missing_process_has_no_memory     => [ sub ($r) { GTop->new->proc_mem(4194305)->size }, '0' ],
    used_and_free_memory_add_up         => [ sub ($r) { my $m = GTop->new->mem; $m->used + $m->free == $m->total ? 'adds up' : 'wrong' }, 'adds up' ],
    size_string_has_a_unit              => [ sub ($r) { join '|', map { GTop::size_string($_) } 0, 10, 2048, 1572864 }, '0k|1k|2k|1.5M' ],
    an_unknown_field_dies               => [ sub ($r) { eval { GTop->new->mem->nonsense }; $@ }, qr/\AGTop has no field nonsense here/ ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( sub { GTop->new->proc_mem($$)->size }, 100 ) }, 'steady' ],
};
