package GTop;

use v5.36;

use GTop::Process ();
use GTop::System  ();

our $VERSION = '0.18';

sub new ($class) { return bless {}, $class }

# --- processes

sub proc_mem     ( $, $pid = $$ ) { return GTop::Process::memory($pid) }
sub proc_time    ( $, $pid = $$ ) { return GTop::Process::times($pid) }
sub proc_state   ( $, $pid = $$ ) { return GTop::Process::state($pid) }
sub proc_uid     ( $, $pid = $$ ) { return GTop::Process::identity($pid) }
sub proc_segment ( $, $pid = $$ ) { return GTop::Process::segments($pid) }

# Returns (the list's description, the words), as libgtop does.
sub proc_args ( $, $pid = $$, @ ) {
    my @words = GTop::Process::words($pid);
    return ( GTop::Record->new( number => scalar @words, size => length join "\0", @words ), \@words );
}

sub proclist ( $, @ ) {
    my @pids = GTop::Process::all();
    return ( GTop::Record->new( number => scalar @pids ), \@pids );
}

# --- the machine

sub mem     ($) { return GTop::System::memory() }
sub swap    ($) { return GTop::System::swap() }
sub cpu     ($) { return GTop::System::cpu() }
sub loadavg ($) { return GTop::System::load() }
sub uptime  ($) { return GTop::System::uptime() }

# 1572864 → 1.5M. May be called as a function or as a method.
sub size_string {
    my $size = $_[-1];
    return '-'                             if !defined $size || $size < 0;
    return '0k'                            if $size == 0;
    return '1k'                            if $size < 1024;
    return sprintf '%dk', $size / 1024     if $size < 1024**2;
    return sprintf '%.1fM', $size / 1024**2 if $size < 99 * 1024**2;
    return sprintf '%dM', $size / 1024**2;
}

1;

__END__

=head1 NAME

GTop - memory and CPU time of processes, and of the machine

=head1 SYNOPSIS

    use GTop ();

    my $gtop = GTop->new;
    my $mem  = $gtop->proc_mem($$);
    printf "%-6s %d\n", $_, $mem->$_ for qw(size vsize share rss pss);
    print 'unshared: ', GTop::size_string( $mem->size - $mem->share ), "\n";

    print 'shared by all: ', $gtop->mem->share, "\n";

=head1 DESCRIPTION

All sizes are bytes. Each call reads F</proc>; nothing is cached.

=head2 proc_mem(PID)

=over

=item C<size>, C<rss>, C<resident>

The process's resident memory.

=item C<share>

The part of it that other processes have mapped, too: files, and pages that a worker still shares
with its mold. C<size - share> is the process's private memory.

=item C<private>

C<size - share>.

=item C<pss>

The process's proportional share: a page that three processes map counts for a third. The sum over
all processes is their total memory.

=item C<vsize>

The process's address space.

=item C<rss_rlim>

The limit of C<rss>, -1 if there is none.

=back

C<share> and C<pss> come from F<smaps_rollup>, which the kernel shows to the process itself and to
its user. For processes of other users, C<share> counts only files (F<statm>), and C<pss> is undef.
A missing process has zeroes.

=head2 Others

C<< mem->total used free shared share buffer cached user locked
available >>, C<< swap->total used free pagein pageout >>,
C<< cpu->total user nice sys idle frequency >>, C<< loadavg->loadavg nr_running nr_tasks last_pid >>, C<<
uptime->uptime idletime >>, C<< proc_time($pid)->rtime utime stime start_time frequency >>, C<< proc_state($pid)->cmd
state uid gid >>, C<< proc_uid($pid)->uid euid gid egid ppid pgrp session tty priority nice >>, C<<
proc_segment($pid)->text_rss shlib_rss data_rss stack_rss dirty_size start_code end_code start_stack >>. C<proc_args>
and C<proclist> return a description and a reference to the list.

=head2 GTop::size_string(BYTES)

C<0k>, C<812k>, C<1.5M>, C<120M>; C<-> for unknown values.

=head1 DIFFERENCES

Needs no libgtop. C<rss> equals C<size>; C<pss>, C<private> and C<available> are additions.
libgtop's values for file systems, networks and semaphores are missing.

=cut
