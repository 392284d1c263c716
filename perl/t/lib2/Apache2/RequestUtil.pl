# Apache2::RequestUtil: settings, notes, handlers and status lines of a request; run by packages.t

use v5.36;

return {
    dir_config => [ sub ($r) { join '|', $r->dir_config('Said'), $r->dir_config->get('Said') }, 'once|once|twice' ],
    pnotes     => [ sub ($r) { $r->pnotes( x => [ 1, 2 ] ); "@{ $r->pnotes('x') }" }, '1 2' ],
    request    => [ sub ($r) { my $own = Apache2::RequestUtil->request; $own->uri eq $r->uri ? 'the same' : 'another' }, 'the same' ],
    initial    => [ sub ($r) { $r->is_initial_req ? 1 : 0 }, '1' ],
    server     => [ sub ($r) { join '|', $r->get_server_name, $r->document_root eq $ENV{TEST_FOLDER} ? 'root' : $r->document_root }, qr/\A(?:localhost|127\.0\.0\.1)\|root\z/ ],
    handlers   => [ sub ($r) { join '|', map { ref || $_ } @{ $r->get_handlers('PerlResponseHandler') // [] } }, qr/My::Cases|CODE/ ],
    line       => [ sub ($r) { Apache2::RequestUtil::get_status_line(404) }, '404 Not Found' ],
    slurped    => [ sub ($r) { $r->filename( $ENV{TEST_FOLDER} . '/page.txt' ); ${ $r->slurp_filename } }, "a page\n" ],
    location   => [ sub ($r) { $r->location }, '/case' ],
    as_string  => [ sub ($r) { $r->as_string }, qr{\APOST /case.*content-length: 3}si ],
};
