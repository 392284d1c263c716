package Faults::Mischief;

# Careless acts of scripts, and a check of what they leave for the next request.

use strict;
use warnings;

use Cwd ();
use POSIX ();

my @leaked;

our %KINDS = (
    exit     => sub { exit 3 },
    die      => sub { die "on purpose\n" },
    segv     => sub { local $SIG{SEGV} = 'DEFAULT'; unpack 'p', pack 'J', 8 },
    fork     => sub { my $pid = fork; return if $pid; POSIX::_exit(0) },
    exec     => sub { system '/bin/true' },
    stray    => sub { print STDOUT 'stray'; print STDERR '' },
    closed   => sub { close STDOUT },
    chdir    => sub { chdir '/usr' },
    umask    => sub { umask 0 },
    alarm    => sub { $SIG{ALRM} = 'DEFAULT'; alarm 2 },
    signal   => sub { $SIG{TERM} = $SIG{INT} = 'IGNORE' },
    hook     => sub { $SIG{__DIE__} = sub { POSIX::_exit(1) } },
    slash    => sub { ( $/, $\, $, ) = ( undef, '!', '-' ) },
    select   => sub { select STDERR },
    env      => sub { %ENV = ( PATH => '/nowhere' ) },
    files    => sub { open my $file, '<', '/dev/null' or die $!; push @leaked, $file },
);

sub commit { ( $KINDS{ $_[0] } || sub { } )->() }

# The process' state as a line; equal lines mean that nothing was left behind.
sub state {
    my $left = POSIX::strtol( alarm(0), 10 );
    my @zombies = grep { is_zombie($_) } children();
    my @handlers = map { "$_=" . ( $SIG{$_} ? 'set' : 'unset' ) } qw(ALRM TERM INT __DIE__);
    my $separators = join ',', map { defined $_ ? unpack( 'H*', $_ ) : 'undef' } $/, $\, $,;
    return join ' ', "cwd=" . Cwd::getcwd(), sprintf( 'umask=%03o', umask ), "alarm=$left", "zombies=" . @zombies, @handlers,
        "separators=$separators", "output=" . ( select() =~ /STDOUT|Apache|main::/ ? select() : 'other' ),
        "path=$ENV{PATH}", 'stdout=' . ( defined fileno STDOUT || tied *STDOUT ? 'open' : 'closed' );
}

sub children { map { m{/proc/(\d+)/stat} ? $1 : () } glob '/proc/[0-9]*/stat' }

sub is_zombie {
    open my $stat, '<', "/proc/$_[0]/stat" or return 0;
    local $/;
    my ( $state, $parent ) = ( <$stat> // '' ) =~ /\) (\S) (\d+)/;
    return defined $parent && $parent == $$ && $state eq 'Z';
}

1;
