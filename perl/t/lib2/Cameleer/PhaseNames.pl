# Cameleer::PhaseNames: the names of all phases, and their directives; run by packages.t

use v5.36;

return {
    all       => [ sub ($r) { scalar( () = Cameleer::PhaseNames::all() ) }, '20' ],
    directive => [ sub ($r) { join '|', map { Cameleer::PhaseNames::directive($_) // 'none' } qw(Cleanup PerlAccessHandler Handler Nothing) }, 'PerlCleanupHandler|PerlAccessHandler|PerlResponseHandler|none' ],
};
