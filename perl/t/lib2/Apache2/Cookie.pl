# Apache2::Cookie: creates, writes and reads cookies; run by packages.t

use v5.36;

return {
    made                               => [ sub ($r) { my $c = Apache2::Cookie->new( $r, -name => 'a', -value => [ 'x y', 'z' ], -path => '/p' ); "$c" }, 'a=x+y&z; path=/p' ],
    values                             => [ sub ($r) { my $c = Apache2::Cookie->new( $r, -name => 'a', -value => [ 'x y', 'z' ] ); join '|', $c->name, $c->value }, 'a|x y|z' ],
    baked                              => [ sub ($r) { Apache2::Cookie->new( $r, -name => 'a', -value => 'b' )->bake($r); $r->err_headers_out->get('Set-Cookie') }, qr/\Aa=b/ ],
    a_request_without_cookies_has_none => [ sub ($r) { my $jar = Apache2::Cookie::Jar->new($r); scalar( () = $jar->cookies ) }, '0' ],
};
