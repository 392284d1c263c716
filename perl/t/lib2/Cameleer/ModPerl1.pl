# Cameleer::ModPerl1: packages of mod_perl 1 are refused with the line that wants them; run by packages.t

use v5.36;

return {
    loading_dies_with_advice => [ sub ($r) { eval qq{#line 1 "/site/code.pl"\nrequire Apache::StatINC; 1} ? 'found' : $@ }, qr/Apache::StatINC belongs to mod_perl 1's API.*use Apache2::Reload/ ],
};
