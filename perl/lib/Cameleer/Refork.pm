package Cameleer::Refork;

use v5.36;

use Cameleer::StartUp ();
use Exporter 'import';

our @EXPORT_OK = qw(before_fork after_mold_fork after_worker_fork no_longer_fork_safe);

my ( %hooks, $unsafe );

sub before_fork       :prototype(&) ($code) { return _add( before_fork       => $code ) }
sub after_mold_fork   :prototype(&) ($code) { return _add( after_mold_fork   => $code ) }
sub after_worker_fork :prototype(&) ($code) { return _add( after_worker_fork => $code ) }

sub no_longer_fork_safe ($why) {
    $unsafe //= $why;
    return;
}

sub _add ( $when, $code ) {
    push @{ $hooks{$when} }, $code;
    return;
}

sub _run ($when) {
    $_->() for @{ $hooks{$when} // [] };
    return;
}

# In a worker that is about to become a mold. Says why it cannot; nothing: it can.
sub prepare {
    return $unsafe if defined $unsafe;
    return $@      if !eval { _run('before_fork'); 1 };
    return Cameleer::StartUp::disconnect() // _threads() // '';
}

# In the mold that has been one. The descriptors that the server needs come as a list.
sub promoted ($ours) {
    return $@ if !eval { _run('after_mold_fork'); 1 };
    my @open = Cameleer::StartUp::promoted( split ' ', $ours );
    return @open ? 'it has left open: ' . join( ', ', @open ) . '; close it in Cameleer::Refork::before_fork' : '';
}

sub concerns_workers { return scalar @{ $hooks{after_worker_fork} // [] } }

# In a fresh worker, of whatever mold.
sub forked {
    eval { _run('after_worker_fork'); 1 } or warn "after_worker_fork: $@";
    return;
}

# A thread that holds a lock at the fork would hold it for ever.
sub _threads {
    open my $status, '<', '/proc/self/status' or return "/proc/self/status: $!";
    my ($count) = map { /\AThreads:\s+(\d+)/a } <$status>;
    return ( $count // 1 ) > 1 ? "it has $count threads" : undef;
}

1;

__END__

=head1 NAME

Cameleer::Refork - what a program does when a worker becomes the mold of the next ones

=head1 SYNOPSIS

    use Cameleer::Refork qw(before_fork after_mold_fork after_worker_fork no_longer_fork_safe);

    before_fork       { $redis->quit; undef $redis };         # in the worker, at its end
    after_mold_fork   { %My::Session::CACHE = () };           # in the new mold
    after_worker_fork { $redis = Redis->new };                # in each worker, of whatever mold

    no_longer_fork_safe('libfoo has started a thread');       # this worker never becomes a mold

=head1 DESCRIPTION

With C<Refork>, or C<cameleer refork>, a worker that has served for a while becomes a mold: what its requests loaded and
compiled is shared by the workers that are forked from it. It does so when it has no request, and serves none afterwards:
it forks the mold and leaves.

The functions may be called at any time, usually when a module is loaded; hooks run in the order in which they came, those
of the first molds' workers too. A hook of the first two that dies prevents the promotion, with its words in the error log.

=over

=item before_fork { ... }

Runs in the worker before the fork. Connections that must not be shared are closed here.

=item after_mold_fork { ... }

Runs in the new mold. What no worker should inherit is forgotten here.

=item after_worker_fork { ... }

Runs in each worker when it begins, before C<PerlChildInitHandler>. One that dies is a line in the error log.

=item no_longer_fork_safe($why)

From now on this process does not become a mold.

=back

Connections of L<DBI> need no hook: the worker ends them before the fork, and each worker of the new mold makes its own under
the same handles. Statements that C<prepare_cached> keeps are prepared again; a statement handle that the program keeps
itself prevents the promotion. So do threads, and, in the new mold, connected stream sockets and pipes that are left open.

=cut
