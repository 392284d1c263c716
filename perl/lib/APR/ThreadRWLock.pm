package APR::ThreadRWLock;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

# Does nothing when called by name: the object ends with its last variable.
sub DESTROY { return }

1;

__END__

=head1 NAME

APR::ThreadRWLock - a lock for several readers or one writer

=head1 SYNOPSIS

    my $lock = APR::ThreadRWLock->new($pool);
    $lock->rdlock;
    $lock->unlock;
    $lock->wrlock;
    $lock->unlock;

=head1 DESCRIPTION

C<rdlock tryrdlock wrlock trywrlock unlock> return a status. C<pool_get> returns the lock's pool.

=cut
