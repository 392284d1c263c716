# Apache::Opcode: names of operators, and which of them are denied; run by packages.t

use v5.36;

return {
    tag                            => [ sub ($r) { join ' ', grep { $_ eq 'system' } Apache::Opcode->names(':subprocess') }, 'system' ],
    default                        => [ sub ($r) { ( () = Apache::Opcode->names ) > 100 ? 'many' : 'few' }, 'many' ],
    denied                         => [ sub ($r) { scalar( () = Apache::Opcode->denied ) }, '0' ],
    unknown                        => [ sub ($r) { eval { Apache::Opcode->deny('no_such_operator') }; $@ }, qr/\AUnknown operator name "no_such_operator"/ ],
    unknown_operators_deny_nothing => [ sub ($r) { scalar( () = Apache::Opcode->denied ) }, '0' ],
};
