# Cameleer::Filters: the modes in which filters read; run by packages.t

use v5.36;

return {
    modes => [ sub ($r) { join '|', map { Cameleer::Filters->can($_)->() } qw(MODE_READBYTES MODE_GETLINE MODE_EATCRLF MODE_SPECULATIVE) }, '0|1|2|3' ],
};
