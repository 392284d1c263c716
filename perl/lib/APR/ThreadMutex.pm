package APR::ThreadMutex;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

# Does nothing when called by name: the object ends with its last variable.
sub DESTROY { return }

1;

__END__

=head1 NAME

APR::ThreadMutex - a mutex

=head1 SYNOPSIS

    my $mutex = APR::ThreadMutex->new($pool);
    $mutex->lock;
    $mutex->unlock;

=head1 DESCRIPTION

C<lock trylock unlock> return a status: 0, or C<EBUSY> from C<trylock> if the mutex is locked.
C<pool_get> returns its pool.

=cut
