# Bundle::Apache: the version of the bundle; run by packages.t

use v5.36;

return { version => [ sub ($r) { Bundle::Apache->VERSION }, '1.02' ] };
