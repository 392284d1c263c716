use v5.36;

return {
    field   => [ sub ($r) { require GTop; GTop->new->mem->total > 0 ? 'number' : 'none' }, 'number' ],
    unknown => [ sub ($r) { require GTop; eval { GTop->new->cpu->nonsense }; $@ }, qr/\AGTop has no field nonsense here/ ],
};
