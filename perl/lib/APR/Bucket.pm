package APR::Bucket;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::Bucket - a piece of data, or a mark, in a filter's stream

=head1 SYNOPSIS

    my $bucket = APR::Bucket->new( $allocator, 'text' );
    my $part   = APR::Bucket->new( $allocator, $data, 3, 10 );
    my $length = $bucket->read( my $text );
    $bb->insert_tail( APR::Bucket::eos_create($allocator) );
    $bb->first->insert_before($bucket);
    $bb->last->insert_after( APR::Bucket::flush_create($allocator) ) if !$bb->last->is_eos;
    $bucket->setaside($pool);
    $bucket->remove;
    $bucket->destroy;

=head1 DESCRIPTION

C<new(ALLOCATOR, DATA, OFFSET, LENGTH)> refers to the variable: changes to the variable change the
bucket, until C<setaside> copies the data. C<read(BUFFER, BLOCK)> returns the number of bytes; it
throws if the variable has become shorter than the bucket. C<remove> takes the bucket out of its
brigade, C<delete> and C<destroy> also end it; its other variables throw from then on. C<length
start type is_eos is_flush> describe the bucket.

=cut
