# Apache::File::Ranges: the parts that a Range header selects of a body of ten bytes; run by packages.t

use v5.36;

# Offsets and lengths of the ranges that a GET of ten bytes wants.
sub My::Ranges::of ( $r, $range, %headers ) {
    $r->method_number(0);
    $r->header_in( Range => $range );
    $r->header_in( $_ => $headers{$_} ) for keys %headers;
    return join ',', map {"@$_"} Apache::File::Ranges::wanted( $r, 10 );
}

return {
    several_ranges_are_served                => [ sub ($r) { My::Ranges::of( $r, 'bytes=0-1,3-' ) },  '0 2,3 7' ],
    a_suffix_is_served                       => [ sub ($r) { My::Ranges::of( $r, 'bytes=-3' ) },      '7 3' ],
    more_than_the_body_is_the_body           => [ sub ($r) { My::Ranges::of( $r, 'bytes=-30' ) },     '0 10' ],
    a_range_ends_with_the_body               => [ sub ($r) { My::Ranges::of( $r, 'bytes=8-90' ) },    '8 2' ],
    a_range_outside_the_body_is_ignored      => [ sub ($r) { My::Ranges::of( $r, 'bytes=10-' ) },     '' ],
    a_backward_range_is_ignored              => [ sub ($r) { My::Ranges::of( $r, 'bytes=5-2' ) },     '' ],
    a_range_without_numbers_is_ignored       => [ sub ($r) { My::Ranges::of( $r, 'bytes=-' ) },       '' ],
    a_range_of_words_is_ignored              => [ sub ($r) { My::Ranges::of( $r, 'bytes=a-b' ) },     '' ],
    another_unit_is_ignored                  => [ sub ($r) { My::Ranges::of( $r, 'lines=0-1' ) },     '' ],
    overlapping_ranges_are_ignored           => [ sub ($r) { My::Ranges::of( $r, 'bytes=0-9,0-9' ) }, '' ],
    too_many_ranges_are_ignored              => [ sub ($r) { My::Ranges::of( $r, 'bytes=' . join ',', ('0-0') x 101 ) }, '' ],
    a_huge_number_is_ignored                 => [ sub ($r) { My::Ranges::of( $r, 'bytes=0-' . 9 x 30 ) }, '' ],
    if_range_with_another_tag_gives_the_body => [ sub ($r) { $r->header_out( ETag => '"a"' ); My::Ranges::of( $r, 'bytes=0-1', 'If-Range' => '"b"' ) }, '' ],
    if_range_with_the_tag_gives_the_range    => [ sub ($r) { $r->header_out( ETag => '"a"' ); My::Ranges::of( $r, 'bytes=0-1', 'If-Range' => '"a"' ) }, '0 2' ],
};
