package APR::BucketAlloc;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::BucketAlloc - an allocator of buckets

=head1 SYNOPSIS

    my $allocator = APR::BucketAlloc->new($pool);
    $allocator->destroy;

=head1 DESCRIPTION

The allocator's end destroys its buckets and the brigades that were made with it. The allocator is
destroyed with its pool, or when neither a variable nor an object uses it.

=cut
