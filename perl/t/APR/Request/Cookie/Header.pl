# APR::Request::Cookie::Header: parses the Cookie header in both formats, and reports errors; run by packages.t

use v5.36;

# The status, then the cookies of a header.
sub My::Header::of ($text) {
    require APR::Request::Cookie;
    my ( $status, $jar ) = APR::Request::Cookie::Header::parse($text);
    return join '|', $status, map {"$_->{name}=$_->{value}"} $jar->all;
}

return {
    netscape      => [ sub ($r) { My::Header::of('a=1; b=2') }, '0|a=1|b=2' ],
    quoted        => [ sub ($r) { My::Header::of('a="x; y"; b=2') }, '0|a="x; y"|b=2' ],
    rfc           => [ sub ($r) { require APR::Request::Cookie; my ( undef, $jar ) = APR::Request::Cookie::Header::parse('$Version=1; a=1; $Path="/shop"'); my ($c) = $jar->all; "$c->{path} $c->{version}" }, '/shop 1' ],
    skipped       => [ sub ($r) { My::Header::of('bad; b=2') }, qr/\A1200\d\d\|b=2\z/ ],
    open          => [ sub ($r) { My::Header::of('a="x') }, '120012' ],
    empty         => [ sub ($r) { join ',', map { My::Header::of($_) } '', ' ; ;' }, '0,0' ],
    many          => [ sub ($r) { my ($status) = My::Header::of( join '; ', map {"c$_=1"} 1 .. 10_001 ) =~ /\A(\d+)/; $status }, '120031' ],
    leaks_nothing => [ sub ($r) { TestServer::growth( sub { My::Header::of('a=1; b="2"') } ) }, 'steady' ],
};
