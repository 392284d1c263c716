# APR::Request::Magic: selects the kind of handle that the server has; run by packages.t

use v5.36;

# In mod_perl 1 there is no Apache2 request, so the handle is that of a CGI program.
return {
    mode                    => [ sub ($r) { $APR::Request::Magic::MODE }, 'CGI' ],
    query                   => [ sub ($r) { local $ENV{QUERY_STRING} = 'a=5'; scalar APR::Request::Magic->handle->param('a') }, '5' ],
    the_handle_is_made_once => [ sub ($r) { my ( $one, $two ) = map { APR::Request::Magic->handle } 1 .. 2; $$one == $$two ? 'one' : 'two' }, 'one' ],
};
