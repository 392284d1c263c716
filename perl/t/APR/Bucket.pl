# APR::Bucket: reads a whole text or a part, and recognizes marks of end and flush; run by packages.t

use v5.36;

sub My::Buckets::allocator { require APR::Pool; require APR::BucketAlloc; return APR::BucketAlloc->new( APR::Pool->new ) }

return {
    read_gives_length_and_text            => [ sub ($r) { my $n = APR::Bucket->new( My::Buckets::allocator(), 'text' )->read( my $text ); "$n $text" }, '4 text' ],
    an_offset_and_a_length_select_a_part  => [ sub ($r) { my $data = 'a long text'; APR::Bucket->new( My::Buckets::allocator(), $data, 2, 4 )->read( my $text ); $text }, 'long' ],
    eos_and_flush_are_known_by_their_kind => [ sub ($r) { my $a = My::Buckets::allocator(); join '', map { $_ ? 1 : 0 } APR::Bucket::eos_create($a)->is_eos, APR::Bucket::flush_create($a)->is_flush, APR::Bucket->new( $a, 'x' )->is_eos }, '110' ],
    an_offset_past_the_end_dies           => [ sub ($r) { my $data = 'text'; eval { APR::Bucket->new( My::Buckets::allocator(), $data, 9, 1 ); 1 } ? 'made' : 'died' }, 'died' ],
    leaks_nothing                         => [ sub ($r) { TestServer::growth( sub { my $data = 'text'; my $b = APR::Bucket->new( My::Buckets::allocator(), $data ); $b->read( my $text ) } ) }, 'steady' ],
};
