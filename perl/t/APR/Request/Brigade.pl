# APR::Request::Brigade: reads a brigade by lines and by bytes, also as a tied handle; run by packages.t

use v5.36;

sub My::Reading::of (@texts) {
    require "APR/$_.pm" for qw(Pool BucketAlloc Bucket Brigade);
    my $pool    = APR::Pool->new;
    my $brigade = APR::Brigade->new( $pool, APR::BucketAlloc->new($pool) );
    $brigade->insert_tail( APR::Bucket->new( $brigade->bucket_alloc, "$_" ) ) for @texts;
    return $brigade;
}

return {
    readline_joins_buckets_to_lines        => [ sub ($r) { my $io = APR::Request::Brigade->new( My::Reading::of( "one\ntw", "o\nthree" ) ); join '|', map { s/\n/N/r } $io->READLINE }, 'oneN|twoN|three' ],
    read_fills_a_buffer_at_an_offset       => [ sub ($r) { my $io = APR::Request::Brigade->new( My::Reading::of('abcdef') ); my $n = $io->READ( my $text, 4 ); $n .= $io->READ( $text, 9, 6 ); "$n " . $text =~ s/\0/0/gr }, '42 abcd00ef' ],
    read_at_the_end_returns_0              => [ sub ($r) { my $io = APR::Request::Brigade->new( My::Reading::of('a') ); $io->READ( my $text, 9 ); ( $io->READ( $text, 9 ) // 'undef' ) . ( $io->EOF ? ' end' : '' ) }, 'undef end' ],
    a_tied_handle_reads_lines              => [ sub ($r) { tie *My::Reading::HANDLE, 'APR::Request::Brigade', My::Reading::of("one\ntwo"); my @lines = <My::Reading::HANDLE>; untie *My::Reading::HANDLE; scalar @lines }, '2' ],
    reading_leaves_the_brigade_unchanged   => [ sub ($r) { my $bb = My::Reading::of('text'); APR::Request::Brigade->new($bb)->READ( my $text, 9 ); $bb->length }, '4' ],
    handle_gives_an_object_with_io_methods => [ sub ($r) { my $io = APR::Request::Brigade::handle( APR::Request::Brigade->new( My::Reading::of("one\ntwo") ) ); my $line = $io->readline; $io->read( my $rest, 9 ); "$line$rest" }, "one\ntwo" ],
    a_text_is_no_brigade                   => [ sub ($r) { eval { APR::Request::Brigade->new('text'); 1 } ? 'made' : 'died' }, 'died' ],
    leaks_nothing                          => [ sub ($r) { TestServer::growth( sub { APR::Request::Brigade->new( My::Reading::of("one\ntwo") )->READLINE } ) }, 'steady' ],
};
