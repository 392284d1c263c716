# APR::Request::CGI: query and cookies of a CGI program; run by packages.t

use v5.36;

sub My::Gateway::of (%env) { require APR::Pool; @ENV{ keys %env } = values %env; return APR::Request::CGI->handle( APR::Pool->new ) }

return {
    query  => [ sub ($r) { local %ENV = %ENV; scalar My::Gateway::of( QUERY_STRING => 'a=1&b=x%20y' )->param('b') }, 'x y' ],
    cookie => [ sub ($r) { local %ENV = %ENV; scalar My::Gateway::of( HTTP_COOKIE => 'c=5' )->jar('c') }, '5' ],
    same   => [ sub ($r) { require APR::Pool; my $pool = APR::Pool->new; my ( $one, $two ) = map { APR::Request::CGI->handle($pool) } 1 .. 2; $$one == $$two ? 'one' : 'two' }, 'one' ],
    long   => [ sub ($r) { local %ENV = %ENV; 0 + My::Gateway::of( CONTENT_LENGTH => 'many', CONTENT_TYPE => 'application/x-www-form-urlencoded' )->body_status }, '120014' ],
    grows  => [ sub ($r) { local %ENV = %ENV; TestServer::growth( sub { my $all = My::Gateway::of( QUERY_STRING => 'a=1' )->args } ) }, 'steady' ],
};
