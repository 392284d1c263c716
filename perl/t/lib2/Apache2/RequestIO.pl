# Apache2::RequestIO: prints, reads and sends files; run by packages.t

use v5.36;

return {
    print   => [ sub ($r) { $r->print( 'a', 'b' ); $r->puts('c'); $r->printf( '%02d', 7 ); '' }, 'abc07' ],
    read    => [ sub ($r) { my $length = $r->read( my $text, 100 ); "$length $text" }, '3 c=3' ],
    pieces  => [ sub ($r) { my $text = 'x'; join '|', $r->read( $text, 1, 1 ), $r->read( $text, 10, 2 ), $text }, '1|2|xc=3' ],
    discard => [ sub ($r) { join '|', $r->discard_request_body, $r->read( my $text, 9 ) }, '0|0' ],
    file    => [ sub ($r) { $r->sendfile( $ENV{TEST_FOLDER} . '/page.txt' ); '' }, "a page\n" ],
    part    => [ sub ($r) { $r->sendfile( $ENV{TEST_FOLDER} . '/page.txt', 2, 4 ); '' }, 'page' ],
    no_file => [ sub ($r) { eval { $r->sendfile('/none'); 1 } ? 'sent' : 'exception' }, 'exception' ],
    flushed => [ sub ($r) { $r->print('a'); $r->rflush; 'b' }, 'ab' ],
};
