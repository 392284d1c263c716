# Apache::Opcode: names of operators, and which of them are denied; run by packages.t

use v5.36;

return {
    a_tag_contains_its_operators          => [ sub ($r) { join ' ', grep { $_ eq 'system' } Apache::Opcode->names(':subprocess') }, 'system' ],
    names_without_a_tag_are_all_operators => [ sub ($r) { ( () = Apache::Opcode->names ) > 100 ? 'many' : 'few' }, 'many' ],
    no_operator_is_denied_by_default      => [ sub ($r) { scalar( () = Apache::Opcode->denied ) }, '0' ],
    deny_refuses_an_unknown_operator      => [ sub ($r) { eval { Apache::Opcode->deny('no_such_operator') }; $@ }, qr/\AUnknown operator name "no_such_operator"/ ],
    unknown_operators_deny_nothing        => [ sub ($r) { scalar( () = Apache::Opcode->denied ) }, '0' ],
};
