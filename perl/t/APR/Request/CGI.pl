# APR::Request::CGI: query and cookies of a CGI program; run by packages.t

use v5.36;

sub My::Gateway::of (%env) { require APR::Pool; @ENV{ keys %env } = values %env; return APR::Request::CGI->handle( APR::Pool->new ) }

return {
    the_query_is_that_of_the_environment => [ sub ($r) { local %ENV = %ENV; scalar My::Gateway::of( QUERY_STRING => 'a=1&b=x%20y' )->param('b') }, 'x y' ],
    cookies_are_those_of_the_environment => [ sub ($r) { local %ENV = %ENV; scalar My::Gateway::of( HTTP_COOKIE => 'c=5' )->jar('c') }, '5' ],
    a_pool_has_one_handle                => [ sub ($r) { require APR::Pool; my $pool = APR::Pool->new; my ( $one, $two ) = map { APR::Request::CGI->handle($pool) } 1 .. 2; $$one == $$two ? 'one' : 'two' }, 'one' ],
    an_invalid_length_is_an_error        => [ sub ($r) { local %ENV = %ENV; 0 + My::Gateway::of( CONTENT_LENGTH => 'many', CONTENT_TYPE => 'application/x-www-form-urlencoded' )->body_status }, '120014' ],
    leaks_nothing                        => [ sub ($r) { local %ENV = %ENV; TestServer::growth( sub { my $all = My::Gateway::of( QUERY_STRING => 'a=1' )->args } ) }, 'steady' ],
};
