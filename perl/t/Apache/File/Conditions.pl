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
    no_condition_is_ok                 => [ sub ($r) { My::Conditions::status($r) },                                      '0' ],
    a_known_tag_is_a_304               => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => '"b", "a"' ) },     '304' ],
    a_weak_tag_is_a_304                => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => 'W/"a"' ) },        '304' ],
    an_asterisk_is_a_304               => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => '*' ) },            '304' ],
    an_unknown_tag_is_ok               => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => '"b"' ) },          '0' ],
    an_unquoted_tag_is_ignored         => [ sub ($r) { My::Conditions::status( $r, 'If-None-Match' => 'a' ) },            '0' ],
    if_match_with_the_tag_is_ok        => [ sub ($r) { My::Conditions::status( $r, 'If-Match' => '"a"' ) },               '0' ],
    if_match_with_another_tag_is_a_412 => [ sub ($r) { My::Conditions::status( $r, 'If-Match' => '"b"' ) },               '412' ],
    if_match_with_a_weak_tag_is_a_412  => [ sub ($r) { My::Conditions::status( $r, 'If-Match' => 'W/"a"' ) },             '412' ],
    a_file_modified_since_is_a_412     => [ sub ($r) { My::Conditions::status( $r, 'If-Unmodified-Since' => 'Sun, 06 Nov 1994 08:49:37 GMT' ) }, '412' ],
    an_invalid_date_is_ignored         => [ sub ($r) { My::Conditions::status( $r, 'If-Modified-Since' => 'yesterday' ) }, '0' ],
    an_error_has_no_conditions         => [ sub ($r) { $r->status(404); my $s = My::Conditions::status( $r, 'If-Match' => '"b"' ); $r->status(200); $s }, '0' ],
};
