package GTop::Process;

use v5.36;

use GTop::Record ();
use POSIX        ();

my $PAGE  = POSIX::sysconf( POSIX::_SC_PAGESIZE() );
my $TICKS = POSIX::sysconf( POSIX::_SC_CLK_TCK() );

sub contents ( $pid, $name ) {
    $pid =~ /\A[0-9]+\z/ or return '';
    open my $handle, '<:raw', "/proc/$pid/$name" or return '';
    local $/ = undef;
    return <$handle> // '';
}

# Rollup lines are `Pss:   281 kB`; only the process's user can read the file.
sub memory ($pid) {
    my ( $pages, $resident, $files ) = ( split( ' ', contents( $pid, 'statm' ) ), 0, 0, 0 );
    my %kb    = contents( $pid, 'smaps_rollup' ) =~ /^(\w+):\s+([0-9]+) kB/mg;
    my $size  = defined $kb{Rss} ? 1024 * $kb{Rss} : $PAGE * $resident;
    my $share = defined $kb{Rss} ? 1024 * ( $kb{Shared_Clean} + $kb{Shared_Dirty} ) : $PAGE * $files;
    return GTop::Record->new(
        size     => $size,
        rss      => $size,
        resident => $size,
        vsize    => $PAGE * $pages,
        share    => $share,
        private  => $size - $share,
        pss      => defined $kb{Pss} ? 1024 * $kb{Pss} : undef,
        rss_rlim => contents( $pid, 'limits' ) =~ /^Max resident set\s+([0-9]+)/m ? $1 : -1,
    );
}

# The fields of stat behind the command's name, which may itself contain blanks and parentheses.
sub stat_fields ($pid) {
    my ($fields) = contents( $pid, 'stat' ) =~ /\A.*\) (.*)/s;
    return split ' ', $fields // '';
}

sub times ($pid) {
    my @stat = stat_fields($pid);
    my ( $user, $system, $start ) = map { $_ // 0 } @stat[ 11, 12, 19 ];
    return GTop::Record->new(
        rtime      => $user + $system,
        utime      => $user,
        stime      => $system,
        start_time => boot_time() + int( $start / $TICKS ),
        frequency  => $TICKS,
    );
}

sub boot_time { return contents_of_machine('stat') =~ /^btime ([0-9]+)/m ? $1 : 0 }

sub contents_of_machine ($name) {
    open my $handle, '<:raw', "/proc/$name" or return '';
    local $/ = undef;
    return <$handle> // '';
}

sub state ($pid) {
    my %of = contents( $pid, 'status' ) =~ /^(Name|State|Uid|Gid):\s*(.*)/mg;
    my ( $state, $uid, $gid ) = map { ( split ' ', $_ // '' )[0] } @of{qw(State Uid Gid)};
    return GTop::Record->new( cmd => $of{Name} // '', state => $state // '', uid => $uid, gid => $gid );
}

sub identity ($pid) {
    my $status = contents( $pid, 'status' );
    my ( $uid, $euid ) = $status =~ /^Uid:\s*([0-9]+)\s+([0-9]+)/m;
    my ( $gid, $egid ) = $status =~ /^Gid:\s*([0-9]+)\s+([0-9]+)/m;
    my @stat = stat_fields($pid);
    return GTop::Record->new(
        uid      => $uid,
        euid     => $euid,
        gid      => $gid,
        egid     => $egid,
        ppid     => $stat[1],
        pgrp     => $stat[2],
        session  => $stat[3],
        tty      => $stat[4],
        priority => $stat[15],
        nice     => $stat[16],
    );
}

sub segments ($pid) {
    my %kb   = contents( $pid, 'status' ) =~ /^(Vm\w+|Rss\w+):\s+([0-9]+) kB/mg;
    my @stat = stat_fields($pid);
    my $size = sub ($name) { 1024 * ( $kb{$name} // 0 ) };
    return GTop::Record->new(
        text_rss    => $size->('VmExe'),
        shlib_rss   => $size->('VmLib'),
        data_rss    => $size->('VmData'),
        stack_rss   => $size->('VmStk'),
        dirty_size  => $size->('RssAnon'),
        start_code  => $stat[23] // 0,
        end_code    => $stat[24] // 0,
        start_stack => $stat[25] // 0,
    );
}

sub words ($pid) { return split /\0/, contents( $pid, 'cmdline' ) }

sub all {
    opendir my $folder, '/proc' or return;
    return sort { $a <=> $b } grep { /\A[0-9]+\z/ } readdir $folder;
}

1;

__END__

=head1 NAME

GTop::Process - facts of /proc about one process

=head1 SYNOPSIS

    my $memory = GTop::Process::memory($pid);    # for GTop->proc_mem

=cut
