# APR::String: formats sizes as libapr does; run by packages.t

use v5.36;

return { sizes => [ sub ($r) { join '|', map { APR::String::format_size($_) } 0, 42, 42_000, 42_000_000, -1 }, qr/\A  0 \| 42 \| 41K\| 40M\|/ ] };
