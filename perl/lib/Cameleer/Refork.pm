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

# Runs in a worker that is about to become a mold. Returns the reason if it cannot become one, otherwise nothing.
sub prepare {
    return $unsafe if defined $unsafe;
    return $@      if !eval { _run('before_fork'); 1 };
    return Cameleer::StartUp::disconnect() // _threads() // '';
}

# Runs in the mold that was a worker. The argument lists the server's own descriptors.
sub promoted ($ours) {
    return $@ if !eval { _run('after_mold_fork'); 1 };
    my @open = Cameleer::StartUp::promoted( split ' ', $ours );
    return @open ? 'the worker has left open: ' . join( ', ', @open ) . '; close them in Cameleer::Refork::before_fork' : '';
}

sub concerns_workers { return scalar @{ $hooks{after_worker_fork} // [] } }

# Runs in a fresh worker of any mold.
sub forked {
    eval { _run('after_worker_fork'); 1 } or warn "after_worker_fork: $@";
    return;
}

# A lock that another thread holds during the fork would stay locked for good.
sub _threads {
    open my $status, '<', '/proc/self/status' or return "/proc/self/status: $!";
    my ($count) = map { /\AThreads:\s+(\d+)/a } <$status>;
    return ( $count // 1 ) > 1 ? "the worker has $count threads" : undef;
}

1;

__END__

=head1 NAME

Cameleer::Refork - hooks for a worker that becomes the next mold

=head1 SYNOPSIS

    use Cameleer::Refork qw(before_fork after_mold_fork after_worker_fork no_longer_fork_safe);

    before_fork       { $redis->quit; undef $redis };         # in the worker, before the fork
    after_mold_fork   { %My::Session::CACHE = () };           # in the new mold
    after_worker_fork { $redis = Redis->new };                # in each worker, of whatever mold

    no_longer_fork_safe('libfoo has started a thread');       # this worker never becomes a mold

=head1 DESCRIPTION

With C<Refork>, or C<cameleer refork>, a worker that has served for a while becomes a mold: the
workers that are forked from it share the code that its requests have loaded and compiled. The
worker does so between requests, and serves none afterwards: it forks the mold and leaves.

You may call these functions at any time, usually when a module is loaded; hooks run in the order of
registration, also in workers of the first molds. If a hook of the first two kinds dies, the
promotion is cancelled, and the error logged.

=over

=item before_fork { ... }

Runs in the worker before the fork. Close connections here that must not be shared.

=item after_mold_fork { ... }

Runs in the new mold. Delete data here that workers must not inherit.

=item after_worker_fork { ... }

Runs in each worker when it starts, before C<PerlChildInitHandler>. If it dies, the error is logged.

=item no_longer_fork_safe($why)

Prevents this process from becoming a mold.

=back

Connections of L<DBI> need no hook: the worker closes them before the fork, and each worker of the
new mold opens its own under the same handles. Statements of C<prepare_cached> are prepared again; a
statement handle that the program itself holds prevents the promotion. So do threads, and, in the
new mold, open stream sockets and pipes.

=cut
