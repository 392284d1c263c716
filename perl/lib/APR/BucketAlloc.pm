package APR::BucketAlloc;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::BucketAlloc - where buckets are allocated

=head1 SYNOPSIS

    my $allocator = APR::BucketAlloc->new($pool);
    $allocator->destroy;

=head1 DESCRIPTION

With it end its buckets and the brigades that were made with it. It is destroyed with its pool, or with the last variable of what it
is used by.

=cut
