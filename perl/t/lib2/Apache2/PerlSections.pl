# Apache2::PerlSections: the server that a <Perl> section belongs to; run by packages.t

use v5.36;

return { server => [ sub ($r) { ref Apache2::PerlSections->server }, 'Apache2::ServerRec' ] };
