package APR::ThreadMutex;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

# Called by name it does nothing: the last variable ends it.
sub DESTROY { return }

1;

__END__

=head1 NAME

APR::ThreadMutex - a lock

=head1 SYNOPSIS

    my $mutex = APR::ThreadMutex->new($pool);
    $mutex->lock;
    $mutex->unlock;

=head1 DESCRIPTION

C<lock trylock unlock> return a status: 0, or C<EBUSY> from C<trylock> when it is locked. C<pool_get> is its pool.

=cut
