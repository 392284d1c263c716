use v5.36;

return { server => [ sub ($r) { ref Apache2::PerlSections->server }, 'Apache2::ServerRec' ] };
