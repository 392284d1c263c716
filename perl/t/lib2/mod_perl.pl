# mod_perl: the version of mod_perl; run by packages.t

use v5.36;

return { version => [ sub ($r) { $mod_perl::VERSION }, '2.000012' ] };
