# Apache2::compat: names of mod_perl 1 on an Apache2 request; run by packages.t

use v5.36;

return {
    request => [ sub ($r) { ref Apache->request }, 'Apache2::RequestRec' ],
    header  => [ sub ($r) { $r->header_out( 'X-Old' => 'way' ); $r->header_out('X-Old') }, 'way' ],
    content => [ sub ($r) { my %form = $r->content; $form{c} }, '3' ],
};
