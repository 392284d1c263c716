# GTop::Record: known fields have values, and an unknown field dies; run by packages.t

use v5.36;

return {
    field   => [ sub ($r) { require GTop; GTop->new->mem->total > 0 ? 'number' : 'none' }, 'number' ],
    unknown => [ sub ($r) { require GTop; eval { GTop->new->cpu->nonsense }; $@ }, qr/\AGTop has no field nonsense here/ ],
};
