package APR::Brigade;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::Brigade - buckets in a row

=head1 SYNOPSIS

    my $bb = APR::Brigade->new( $pool, APR::BucketAlloc->new($pool) );
    $bb->insert_tail($bucket);
    $bb->insert_head($other);
    for ( my $b = $bb->first; $b; $b = $bb->next($b) ) { print $b->length }
    my $read = $bb->flatten( my $data );
    my $tail = $bb->split( $bb->last );
    $bb->concat($tail);
    $bb->cleanup;
    $bb->destroy;

=head1 DESCRIPTION

C<first last next prev> return a bucket or undef. C<flatten(BUFFER, WANTED)> reads all of it, or that many bytes, and returns how many
these are; C<length> is how many there are. C<pool> and C<bucket_alloc> are what it was made with. A brigade with no variable
left is destroyed.

A bucket is in one brigade at a time, and all of a brigade's are of its allocator: other uses throw.

=cut
