# APR::BucketAlloc: a bucket is invalid once its allocator is destroyed, and nothing leaks; run by packages.t

use v5.36;

return {
    destroy_frees_the_allocator => [ sub ($r) { require APR::Pool; require APR::Bucket; my $a = APR::BucketAlloc->new( APR::Pool->new ); my $b = APR::Bucket->new( $a, 'text' ); $a->destroy; eval { $b->length }; $@ }, qr/\Ainvalid APR::Bucket object: the pool or allocator/ ],
    leaks_nothing               => [ sub ($r) { require APR::Pool; TestServer::growth( sub { APR::BucketAlloc->new( APR::Pool->new ) } ) }, 'steady' ],
};
