# Apache2::Response: headers and status of a response; run by packages.t

use v5.36;

return {
    length   => [ sub ($r) { $r->set_content_length(5); 'hello' }, 'hello' ],
    modified => [ sub ($r) { $r->update_mtime(784_111_777); $r->set_last_modified; $r->headers_out->get('Last-Modified') }, 'Sun, 06 Nov 1994 08:49:37 GMT' ],
    keeps    => [ sub ($r) { $r->set_keepalive; 'asked' }, 'asked' ],
    cgi      => [ sub ($r) { $r->send_cgi_header("X-Own: yes\r\nContent-Type: text/x-cgi\r\n\r\n"); '' }, '' ],
    custom   => [ sub ($r) { $r->custom_response( 404, 'not here' ); 'set' }, 'set' ],
    meets    => [ sub ($r) { $r->meets_conditions }, '0' ],
};
