# Apache::Filter: reads a file or the output of the filter before, and reports errors; run by packages.t

use v5.36;

sub My::Filtered::first ( $r, $name = 'page.txt' ) {
    $r->filename("$ENV{TEST_FOLDER}/$name");
    my $filter = $r->filter_register;
    return ( $filter, $filter->filter_input );
}

return {
    a_filter_reads_the_file                               => [ sub ($r) { my ( $f, $in ) = My::Filtered::first($r); print uc while <$in>; '' }, "A PAGE\n" ],
    a_missing_file_is_a_404                               => [ sub ($r) { ( My::Filtered::first( $r, 'none.txt' ) )[2] }, '404' ],
    a_folder_is_a_403                                     => [ sub ($r) { ( My::Filtered::first( $r, 'perl' ) )[2] },     '403' ],
    a_second_filter_reads_the_first                       => [
        sub ($r) {
            my ( $f, $in ) = My::Filtered::first($r);
            print uc while <$in>;
            my $first = $f->filter_first;
            $f  = $f->filter_register;
            $in = $f->filter_input;
            print '<', <$in>, '>';
            $first . $f->filter_first;
        },
        "<A PAGE\n>10",
    ],
    a_filter_sets_the_content_type                        => [ sub ($r) { my ($f) = My::Filtered::first($r); $f->send_http_header('text/x'); $f->print( 'type ', $f->content_type ); '' }, 'type text/x' ],
    a_deterministic_filter_is_as_old_as_its_input         => [ sub ($r) { my ($f) = My::Filtered::first($r); join '|', $f->deterministic(1), $f->changed_since( time + 1000 ), $f->changed_since(1) }, '1|0|1' ],
    a_filter_that_is_not_deterministic_has_always_changed => [ sub ($r) { my ($f) = My::Filtered::first($r); join '|', $f->deterministic(0), $f->deterministic(1), $f->changed_since( time + 1000 ) }, '0|0|1' ],
    output_precedes_the_die                               => [ sub ($r) { my ($f) = My::Filtered::first($r); print 'begun '; die "in a filter\n" }, "begun died: in a filter\n" ],
};
