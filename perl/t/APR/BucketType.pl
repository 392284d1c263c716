# APR::BucketType: the names of bucket types; run by packages.t

use v5.36;

return {
    a_type_has_its_name => [
        sub ($r) {
            require "APR/$_.pm" for qw(Pool BucketAlloc Bucket);
            my $a = APR::BucketAlloc->new( APR::Pool->new );
            join '|', map { $_->type->name } APR::Bucket::eos_create($a), APR::Bucket::flush_create($a), APR::Bucket->new( $a, 'x' );
        },
        'EOS|FLUSH|mod_perl SV bucket',
    ],
};
