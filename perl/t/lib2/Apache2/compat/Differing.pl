# Apache2::compat::Differing: code gets the meaning that a method has in mod_perl 1; run by packages.t

use v5.36;

# Runs code with mod_perl 1's meaning of a method.
sub with ( $method, $code ) {
    require Apache2::compat;
    Apache2::compat::override_mp2_api("Apache2::RequestRec::$method");
    my $said = eval { $code->() } // $@;
    Apache2::compat::restore_mp2_api("Apache2::RequestRec::$method");
    return $said;
}

return {
    filename => [ sub ($r) { with( filename => sub { eval { $r->filename('/none'); 1 } ? 'taken' : $@ } ) }, qr{'/none' doesn't exist} ],
    notes    => [ sub ($r) { with( notes => sub { $r->notes( a => 'b' ); $r->notes('a') } ) }, 'b' ],
    restored => [ sub ($r) { with( notes => sub { } ); $r->notes->set( a => 'c' ); $r->notes->get('a') }, 'c' ],
};
