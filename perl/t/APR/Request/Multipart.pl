# APR::Request::Multipart: parses a multipart body in pieces of any length, and reports errors; run by packages.t

use v5.36;

# The status of a body of this text, taken in pieces, then its fields.
sub My::Parts::of ( $text, $piece = 1000, $type = 'multipart/form-data; boundary=xy' ) {
    require "APR/Request/$_.pm" for qw(Store Parser);
    my $parser = APR::Request::Parser->multipart( undef, undef, $type );
    my ( $store, $status ) = ( APR::Request::Store->new, 70_008 );
    for ( my $at = 0 ; $status == 70_008 && $at < length $text ; $at += $piece ) {
        $status = $parser->feed( $store, substr( $text, $at, $piece ), 0 );
    }
    $status = $parser->feed( $store, '', 1 ) if $status == 70_008;
    return join '|', $status, map { $_->{upload} ? "$_->{name}:$_->{value}:" . $_->{upload}->bytes : "$_->{name}=$_->{value}" } $store->all;
}

my $WHOLE = "--xy\r\nContent-Disposition: form-data; name=a\r\n\r\none\r\n--xy\r\nContent-Disposition: form-data; name=f; filename=t.txt\r\nContent-Type: text/plain\r\n\r\nbytes\r\n--xy--\r\n";

return {
    a_body_in_one_piece_is_parsed       => [ sub ($r) { My::Parts::of($WHOLE) }, '0|a=one|f:t.txt:bytes' ],
    a_body_in_single_bytes_is_parsed    => [ sub ($r) { My::Parts::of( $WHOLE, 1 ) }, '0|a=one|f:t.txt:bytes' ],
    a_missing_end_is_an_error           => [ sub ($r) { My::Parts::of( substr $WHOLE, 0, -14 ) }, '70014|a=one' ],
    a_part_without_a_name_is_an_error   => [ sub ($r) { My::Parts::of( $WHOLE =~ s/; name=a//r ) }, '120000' ],
    a_missing_boundary_is_an_error      => [ sub ($r) { My::Parts::of( $WHOLE, 1000, 'multipart/form-data' ) }, '120000' ],
    an_invalid_header_is_an_error       => [ sub ($r) { My::Parts::of("--xy\r\nno header\r\n\r\none\r\n--xy--\r\n") }, '120011' ],
    a_header_over_the_limit_is_an_error => [ sub ($r) { My::Parts::of( "--xy\r\nA: " . 'x' x 20_000 . "\r\n\r\none\r\n--xy--\r\n" ) }, '120031' ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( sub { My::Parts::of($WHOLE) } ) }, 'steady' ],
};
