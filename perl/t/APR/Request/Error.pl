# APR::Request::Error: status values have libapreq's numbers, texts and exceptions; run by packages.t

use v5.36;

return {
    a_constant_is_its_number           => [ sub ($r) { APR::Request::Error::OVERLIMIT() == 120_031 ? 'number' : 'other' }, 'number' ],
    a_constant_as_text_is_its_message  => [ sub ($r) { APR::Request::Error::OVERLIMIT() . '' }, 'Exceeds configured maximum limit' ],
    an_error_has_its_function_and_line => [ sub ($r) { my $e = APR::Request::Error->of( 120_031, 'f', undef ); join '|', $e == 120_031 ? 1 : 0, "$e", $e->{func}, $e->{line} > 0 ? 'a place' : 'none' }, '1|Exceeds configured maximum limit|f|a place' ],
    strerror_gives_the_message         => [ sub ($r) { APR::Request::Error::strerror(120_012) . '' }, 'Invalid byte sequence' ],
    leaks_nothing                      => [ sub ($r) { TestServer::growth( sub { eval { die APR::Request::Error->of( 120_031, 'f', undef ) }; undef $@ } ) }, 'steady' ],
};
