# APR::Request::Spool: stores an upload in memory or in a file, links and removes the file; run by packages.t

use v5.36;

sub My::Spool::of ( $limit, @pieces ) {
    my $spool = APR::Request::Spool->new( $limit, TestServer::own_file('') =~ s{/\z}{}r );
    $spool->append($_) for @pieces;
    return $spool;
}

return {
    a_small_body_stays_in_memory        => [ sub ($r) { my $s = My::Spool::of( 100, 'ab', 'c' ); $s->size . $s->bytes . ( $s->is_file ? 'file' : '' ) }, '3abc' ],
    a_large_body_goes_to_a_file         => [ sub ($r) { my $s = My::Spool::of( 2, 'ab', 'c' ); $s->size . $s->bytes . ( $s->is_file ? 'file' : '' ) }, '3abcfile' ],
    the_file_ends_with_the_spool        => [ sub ($r) { my $s = My::Spool::of( 2, 'abc' ); my $name = $s->file; my $was = -s $name; undef $s; $was . ( -e $name ? 'left' : 'removed' ) }, '3removed' ],
    link_to_gives_the_file_another_name => [ sub ($r) { my $to = TestServer::own_file('spooled'); unlink $to; my $s = My::Spool::of( 2, 'abc' ); ( $s->link_to($to) ? 'linked' : 'failed' ) . -s $to }, 'linked3' ],
    link_to_refuses_an_existing_file    => [ sub ($r) { My::Spool::of( 100, 'abc' )->link_to( TestServer::own_file( 'occupied', 'x' ) ) ? 'written' : 'refused' }, 'refused' ],
    a_missing_folder_dies               => [ sub ($r) { eval { APR::Request::Spool->new( 1, '/no/such' )->append('ab') }; $@ }, "no temporary file can be made in /no/such: No such file or directory\n" ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( sub { My::Spool::of( 2, 'abc' )->bytes } ) }, 'steady' ],
};
