# mod_perl2: the versions of mod_perl 2; run by packages.t

use v5.36;

return { version => [ sub ($r) { join '|', $mod_perl2::VERSION, $mod_perl2::VERSION_TRIPLET }, '2.000012|2.0.12' ] };
