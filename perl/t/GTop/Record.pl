# GTop::Record: known fields have values, and an unknown field dies; run by packages.t

use v5.36;

return {
    a_record_has_its_fields => [ sub ($r) { require GTop; GTop->new->mem->total > 0 ? 'number' : 'none' }, 'number' ],
    an_unknown_field_dies   => [ sub ($r) { require GTop; eval { GTop->new->cpu->nonsense }; $@ }, qr/\AGTop has no field nonsense here/ ],
};
