# APR::UUID: creates, formats and parses unique identifiers, and refuses invalid ones; run by packages.t

use v5.36;

return {
    format_gives_a_uuid  => [ sub ($r) { APR::UUID->new->format }, qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/ ],
    each_uuid_is_another => [ sub ($r) { my %seen = map { ( APR::UUID->new->format => 1 ) } 1 .. 100; scalar keys %seen }, '100' ],
    parse_undoes_format  => [ sub ($r) { my $text = APR::UUID->new->format; APR::UUID->parse($text)->format eq $text ? 'same' : 'other' }, 'same' ],
    an_invalid_text_dies => [ sub ($r) { join '|', map { eval { APR::UUID->parse($_); 1 } ? 'parsed' : 'died' } 'x', '' }, 'died|died' ],
    leaks_nothing        => [ sub ($r) { TestServer::growth( sub { APR::UUID->parse( APR::UUID->new->format ) } ) }, 'steady' ],
};
