package Apache::Resource;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK);
use BSD::Resource     ();

our $VERSION = '1.7';

our $Debug;

my $MB = 2**20;

# The values of PERL_RLIMIT_DEFAULTS, the same as in mod_perl 1.
my %DEFAULT = ( CPU => 360, DATA => 64, AS => 64, CORE => 0, RSS => 16, FSIZE => 10, STACK => 20 );

# Resources that may be given in megabytes; the others are seconds or counts.
my %IS_SIZE = map { $_ => 1 } qw(DATA AS CORE RSS FSIZE STACK MEMLOCK VMEM);

# PerlChildInitHandler: limits this worker.
sub handler {
    my %wanted = wanted();
    set_limit( $_, $wanted{$_} ) for sort keys %wanted;
    return OK;
}

# Limits by name: `S` or `S:H`.
sub wanted {
    my %limits = map { /\APERL_RLIMIT_(\w+)\z/ ? ( $1 => $ENV{$_} ) : () } keys %ENV;
    my $defaults = delete $limits{DEFAULTS};
    return $defaults && lc $defaults ne 'off' ? ( %DEFAULT, %limits ) : %limits;
}

sub set_limit ( $name, $limit ) {
    my $resource = BSD::Resource::get_rlimits()->{"RLIMIT_$name"};
    return log_error("there is no RLIMIT_$name on this system") if !defined $resource;
    my ( $soft, $hard ) = map { amount( $name, $_ ) } split /:/, $limit, 2;
    return log_error("PERL_RLIMIT_$name: expected S or S:H, numbers or unlimited, got \"$limit\"")
        if !defined $soft || ( $limit =~ /:/ && !defined $hard );
    $hard //= $soft;
    BSD::Resource::setrlimit( $resource, $soft, $hard )
        or return log_error("RLIMIT_$name to $soft:$hard: $!");
    Apache::log_error("Apache::Resource: pid=$$ RLIMIT_$name soft=$soft hard=$hard") if $Debug;
    return;
}

sub amount ( $name, $limit ) {
    return BSD::Resource::RLIM_INFINITY() if $limit =~ /\A(?:-1|unlimited|infinity)\z/i;
    return if $limit !~ /\A[0-9]+\z/;
    return $IS_SIZE{$name} && $limit < $MB ? $limit * $MB : $limit;
}

sub log_error ($text) {
    Apache::log_error("Apache::Resource: $text");
    return;
}

# A page in Apache::Status: the current limits of the worker that answers.
sub status_rlimit {
    my $limits = BSD::Resource::get_rlimits();
    my @rows   = map { row( $_, $limits->{$_} ) } sort keys %$limits;
    return [ '<table border="1"><tr><th>Resource</th><th>Soft</th><th>Hard</th></tr>', @rows, '</table>' ];
}

sub row ( $name, $resource ) {
    my ( $soft, $hard ) = map { shown( $name, $_ ) } BSD::Resource::getrlimit($resource);
    return "<tr><td>$name</td><td>$soft</td><td>$hard</td></tr>\n";
}

sub shown ( $name, $amount ) {
    return 'unlimited' if $amount == BSD::Resource::RLIM_INFINITY();
    return $amount if $amount < $MB || !$IS_SIZE{ $name =~ s/\ARLIMIT_//r };
    return sprintf '%d (%gM)', $amount, $amount / $MB;
}

Apache::Status->menu_item( rlimit => 'Resource Limits', \&status_rlimit ) if $INC{'Apache/Status.pm'};

1;

__END__

=head1 NAME

Apache::Resource - limits what a worker may use of processor and memory

=head1 SYNOPSIS

    PerlModule Apache::Resource
    PerlSetEnv PERL_RLIMIT_CPU 120
    PerlSetEnv PERL_RLIMIT_DATA 32:48
    PerlSetEnv PERL_RLIMIT_AS 268435456
    PerlChildInitHandler Apache::Resource

=head1 DESCRIPTION

Each variable C<PERL_RLIMIT_x> sets the limit C<RLIMIT_x> of setrlimit(2) when a worker starts:
C<CPU> (seconds), C<DATA>, C<STACK>, C<FSIZE>, C<CORE>, C<AS>, C<RSS>, C<MEMLOCK> (sizes),
C<NOFILE>, C<NPROC> (counts) and other resources of the system.

The value is C<S:H>, the soft and the hard limit, or one number for both. Sizes below 2**20 are
megabytes, others bytes. C<unlimited> means no limit. C<PERL_RLIMIT_DEFAULTS On> sets CPU 360 s,
DATA 64 MB, AS 64 MB, STACK 20 MB, RSS 16 MB, FSIZE 10 MB and CORE 0.

A worker that exceeds a limit dies (SIGXCPU, "Out of memory!"); its client gets 502, and another
worker is forked. A limit that cannot be set is logged as an error.

C<$Apache::Resource::Debug = 1>, set before the workers are forked, logs each limit. If
L<Apache::Status> was loaded before this module, it has a page of the current limits.

=head1 DIFFERENCES

Linux counts mmap in C<DATA> since version 4.7, and ignores C<RSS>. C<AS> includes the address space
of the program itself (L<GTop>'s C<vsize> of a fresh worker): a lower limit leaves no memory to
allocate.

=cut
