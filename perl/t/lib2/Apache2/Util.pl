# Apache2::Util: escapes paths and formats times; run by packages.t

use v5.36;

return {
    path => [ sub ($r) { Apache2::Util::escape_path( 'a b/c?d', $r->pool ) }, 'a%20b/c%3fd' ],
    time => [ sub ($r) { Apache2::Util::ht_time( $r->pool, 784_111_777 ) }, 'Sun, 06 Nov 1994 08:49:37 GMT' ],
    form => [ sub ($r) { Apache2::Util::ht_time( $r->pool, 784_111_777, '%Y' ) }, '1994' ],
};
