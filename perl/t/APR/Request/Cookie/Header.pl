# APR::Request::Cookie::Header: parses the Cookie header in both formats, and reports errors; run by packages.t

use v5.36;

# The status, then the cookies of a header.
sub My::Header::of ($text) {
    require APR::Request::Cookie;
    my ( $status, $jar ) = APR::Request::Cookie::Header::parse($text);
    return join '|', $status, map {"$_->{name}=$_->{value}"} $jar->all;
}

return {
    a_plain_header_is_parsed                             => [ sub ($r) { My::Header::of('a=1; b=2') }, '0|a=1|b=2' ],
    quotes_protect_a_semicolon                           => [ sub ($r) { My::Header::of('a="x; y"; b=2') }, '0|a="x; y"|b=2' ],
    rfc_2109_attributes_belong_to_the_cookie_before_them => [ sub ($r) { require APR::Request::Cookie; my ( undef, $jar ) = APR::Request::Cookie::Header::parse('$Version=1; a=1; $Path="/shop"'); my ($c) = $jar->all; "$c->{path} $c->{version}" }, '/shop 1' ],
    an_invalid_cookie_is_skipped                         => [ sub ($r) { My::Header::of('bad; b=2') }, qr/\A1200\d\d\|b=2\z/ ],
    an_open_quote_is_an_error                            => [ sub ($r) { My::Header::of('a="x') }, '120012' ],
    an_empty_header_has_no_cookies                       => [ sub ($r) { join ',', map { My::Header::of($_) } '', ' ; ;' }, '0,0' ],
    too_many_cookies_are_an_error                        => [ sub ($r) { my ($status) = My::Header::of( join '; ', map {"c$_=1"} 1 .. 10_001 ) =~ /\A(\d+)/; $status }, '120031' ],
    leaks_nothing                                        => [ sub ($r) { TestServer::growth( sub { My::Header::of('a=1; b="2"') } ) }, 'steady' ],
};
