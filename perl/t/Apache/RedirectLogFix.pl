# Apache::RedirectLogFix: the logged status of responses with and without a redirect; run by packages.t

use v5.36;

sub My::Fixed::status ($r) { return join '|', Apache::RedirectLogFix::handler($r), $r->status }

return {
    a_200_with_a_location_is_logged_as_302 => [ sub ($r) { $r->header_out( Location => 'http://example.org/' ); My::Fixed::status($r) },    '-1|302' ],
    a_200_stays_a_200                      => [ sub ($r) { My::Fixed::status($r) },                                                          '-1|200' ],
    a_201_with_a_location_stays_a_201      => [ sub ($r) { $r->header_out( Location => '/new' ); $r->status(201); My::Fixed::status($r) },   '-1|201' ],
    an_empty_location_is_logged_as_302     => [ sub ($r) { $r->header_out( Location => '' ); My::Fixed::status($r) },                        '-1|302' ],
};
