# Cameleer::ModPerl2: status lines, and fields that a request stores; run by packages.t

use v5.36;

return {
    line   => [ sub ($r) { Cameleer::ModPerl2::status_line(404) }, '404 Not Found' ],
    fields => [ sub ($r) { Cameleer::ModPerl2::of_request($r)->{own} = 'kept'; Cameleer::ModPerl2::of_request($r)->{own} }, 'kept' ],
};
