# Cameleer::ConnectionEnd: the class of the filter, and the end of a line; run by packages.t

use v5.36;

return {
    is_filter => [ sub ($r) { Cameleer::ConnectionEnd->isa('Apache2::Filter') ? 'a filter' : 'none' }, 'a filter' ],
    lines     => [ sub ($r) { Cameleer::ConnectionEnd::_end_of_line("one\ntwo\n") }, '4' ],
};
