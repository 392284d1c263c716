# Apache::Compress: sends a file whole or compressed, as the client accepts; run by packages.t

use v5.36;

# `packed` has the magic number of gzip.
sub My::Compressed::of ( $r, $name, $accepted = undef ) {
    $r->filename("$ENV{TEST_FOLDER}/$name");
    $r->header_in( 'Accept-Encoding' => $accepted ) if defined $accepted;
    return Apache::Compress::handler($r) || '';
}

return {
    a_client_without_gzip_gets_the_file      => [ sub ($r) { My::Compressed::of( $r, 'page.txt' ) },         "a page\n" ],
    a_client_with_gzip_gets_gzip             => [ sub ($r) { My::Compressed::of( $r, 'page.txt', 'gzip' ) }, qr/\A\x1f\x8b/ ],
    a_client_that_refuses_gzip_gets_the_file => [ sub ($r) { My::Compressed::of( $r, 'page.txt', 'gzip;q=0' ) }, "a page\n" ],
    a_missing_file_is_a_404                  => [ sub ($r) { My::Compressed::of( $r, 'none.txt' ) },         '404' ],
    a_folder_is_a_403                        => [ sub ($r) { My::Compressed::of( $r, 'perl' ) },             '403' ],
};
