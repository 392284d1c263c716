package GTop::System;

use v5.36;

use GTop::Process ();
use GTop::Record  ();

sub meminfo {
    my %kb = GTop::Process::contents_of_machine('meminfo') =~ /^(\w+(?:\(\w+\))?):\s+([0-9]+)/mg;
    return sub ($name) { 1024 * ( $kb{$name} // 0 ) };
}

sub memory {
    my $size = meminfo();
    my $used = $size->('MemTotal') - $size->('MemFree');
    return GTop::Record->new(
        total     => $size->('MemTotal'),
        free      => $size->('MemFree'),
        available => $size->('MemAvailable'),
        used      => $used,
        shared    => $size->('Shmem'),
        share     => $size->('Shmem'),
        buffer    => $size->('Buffers'),
        cached    => $size->('Cached'),
        user      => $used - $size->('Buffers') - $size->('Cached'),
        locked    => $size->('Mlocked'),
    );
}

sub swap {
    my $size = meminfo();
    my %pages = GTop::Process::contents_of_machine('vmstat') =~ /^(pswp\w+) ([0-9]+)/mg;
    return GTop::Record->new(
        total   => $size->('SwapTotal'),
        free    => $size->('SwapFree'),
        used    => $size->('SwapTotal') - $size->('SwapFree'),
        pagein  => $pages{pswpin}  // 0,
        pageout => $pages{pswpout} // 0,
    );
}

# In ticks of the kernel. Waiting for disks counts as idle.
sub cpu {
    my @ticks = GTop::Process::contents_of_machine('stat') =~ /^cpu\s+(.*)/ ? split( ' ', $1 ) : ();
    my ( $user, $nice, $system, $idle, $wait, $interrupt, $soft ) = map { $_ // 0 } @ticks[ 0 .. 6 ];
    my $sys = $system + $interrupt + $soft;
    return GTop::Record->new(
        total     => $user + $nice + $sys + $idle + $wait,
        user      => $user,
        nice      => $nice,
        sys       => $sys,
        idle      => $idle + $wait,
        frequency => POSIX::sysconf( POSIX::_SC_CLK_TCK() ),
    );
}

sub load {
    my ( @average, $tasks, $last );
    ( @average[ 0 .. 2 ], $tasks, $last ) = split ' ', GTop::Process::contents_of_machine('loadavg');
    my ( $running, $all ) = split m{/}, $tasks // '0/0';
    return GTop::Record->new( loadavg => \@average, nr_running => $running, nr_tasks => $all, last_pid => $last );
}

sub uptime {
    my ( $up, $idle ) = split ' ', GTop::Process::contents_of_machine('uptime');
    return GTop::Record->new( uptime => $up, idletime => $idle );
}

1;

__END__

=head1 NAME

GTop::System - facts of /proc about the machine

=head1 SYNOPSIS

    my $memory = GTop::System::memory();    # for GTop->mem

=cut
