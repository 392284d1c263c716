package APR::Bucket;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::Bucket - a piece of data, or a mark, on its way through filters

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

C<new(ALLOCATOR, DATA, OFFSET, LENGTH)> keeps the variable, so that what is done to that is done to the bucket; after
C<setaside> the bucket has a copy. C<read(BUFFER, BLOCK)> returns how many bytes were read; where the variable has become shorter
than the bucket, it throws. C<remove> takes it out of its brigade, C<delete> (and C<destroy>) ends it too; its other variables
throw from then on. C<length start type is_eos is_flush> say what it is.

=cut
