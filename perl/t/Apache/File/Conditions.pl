# Apache::File::Conditions: the status that conditional headers give for the entity tag "a"; run by packages.t

use v5.36;

# The status of a GET whose response has the entity tag "a".
sub My::Conditions::status ( $r, %headers ) {
    require Apache::File;    # has mtime
    $r->method_number(0);
    $r->header_out( ETag => '"a"' );
    $r->header_in( $_ => $headers{$_} ) for keys %headers;
    return Apache::File::Conditions::status($r);
}

return {
    no_condition_is_ok   => [ sub ($r) { My::Conditions::status($r) },                                      '0' ],
    a_known_tag_is_a_304 => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => '"b", "a"' ) },     '304' ],
    known_weakly         => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => 'W/"a"' ) },        '304' ],
    an_asterisk_is_a_304 => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => '*' ) },            '304' ],
    unknown              => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => '"b"' ) },          '0' ],
    unquoted             => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => 'a' ) },            '0' ],
    match                => [ sub ($r) { My::Conditions::status( $r, 'If-Match' => '"a"' ) },               '0' ],
    no_match             => [ sub ($r) { My::Conditions::status( $r, 'If-Match' => '"b"' ) },               '412' ],
    weak_match           => [ sub ($r) { My::Conditions::status( $r, 'If-Match' => 'W/"a"' ) },             '412' ],
    modified             => [ sub ($r) { My::Conditions::status( $r, 'If-Unmodified-Since' => 'Sun, 06 Nov 1994 08:49:37 GMT' ) }, '412' ],
    no_date              => [ sub ($r) { My::Conditions::status( $r, 'If-Modified-Since' => 'yesterday' ) }, '0' ],
    of_an_error          => [ sub ($r) { $r->status(404); my $s = My::Conditions::status( $r, 'If-Match' => '"b"' ); $r->status(200); $s }, '0' ],
};
