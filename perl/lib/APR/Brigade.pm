package APR::Brigade;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::Brigade - a list of buckets

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

C<first last next prev> return a bucket or undef. C<flatten(BUFFER, WANTED)> reads all bytes, or
C<WANTED> bytes, and returns their number; C<length> is the number of bytes in the brigade. C<pool>
and C<bucket_alloc> return the constructor's arguments. A brigade is destroyed with its last
variable.

A bucket is in one brigade at a time, and has the same allocator as its brigade; other uses throw.

=cut
