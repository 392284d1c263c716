# APR::Request::Magic: selects the kind of handle that the server has; run by packages.t

use v5.36;

# In mod_perl 1 there is no Apache2 request, so the handle is that of a CGI program.
return {
    mode_is_cgi                                 => [ sub ($r) { $APR::Request::Magic::MODE }, 'CGI' ],
    the_handle_has_the_query_of_the_environment => [ sub ($r) { local $ENV{QUERY_STRING} = 'a=5'; scalar APR::Request::Magic->handle->param('a') }, '5' ],
    the_handle_is_made_once                     => [ sub ($r) { my ( $one, $two ) = map { APR::Request::Magic->handle } 1 .. 2; $$one == $$two ? 'one' : 'two' }, 'one' ],
};
