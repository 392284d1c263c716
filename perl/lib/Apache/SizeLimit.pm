package Apache::SizeLimit;

use v5.36;

use Apache::Constants     qw(OK DECLINED);
use Cameleer::ProcessLimit ();

our $VERSION = '0.97';

our ( $MAX_PROCESS_SIZE, $MIN_SHARE_SIZE, $MAX_UNSHARED_SIZE );
our ( $CHECK_EVERY_N_REQUESTS, $DEBUG );

my $limit = Cameleer::ProcessLimit->new(
    name   => __PACKAGE__,
    debug  => sub { $DEBUG },
    limits => sub { ( size => $MAX_PROCESS_SIZE, share => $MIN_SHARE_SIZE, unshared => $MAX_UNSHARED_SIZE ) },
);

sub handler {
    $limit->watch( $_[-1], $CHECK_EVERY_N_REQUESTS );
    return DECLINED;
}

# Limits for this request only; called as functions or as methods.
sub setmax          { return $limit->for_this_request( size     => $_[-1] ) }
sub setmin          { return $limit->for_this_request( share    => $_[-1] ) }
sub setmax_unshared { return $limit->for_this_request( unshared => $_[-1] ) }

# Limits for all requests.
Cameleer::ProcessLimit::install_setters(
    __PACKAGE__,
    set_max_process_size  => \$MAX_PROCESS_SIZE,
    set_min_shared_size   => \$MIN_SHARE_SIZE,
    set_max_unshared_size => \$MAX_UNSHARED_SIZE,
    set_check_interval    => \$CHECK_EVERY_N_REQUESTS,
);

sub add_cleanup_handler {
    $limit->watch( $_[-1], $CHECK_EVERY_N_REQUESTS );
    return OK;
}

1;

__END__

=head1 NAME

Apache::SizeLimit - ends workers that have grown too large or share too little memory

=head1 SYNOPSIS

    # startup.pl
    use Apache::SizeLimit;
    $Apache::SizeLimit::MAX_PROCESS_SIZE       = 20_000;    # kilobytes
    $Apache::SizeLimit::MIN_SHARE_SIZE         = 4_096;
    $Apache::SizeLimit::MAX_UNSHARED_SIZE      = 12_000;
    $Apache::SizeLimit::CHECK_EVERY_N_REQUESTS = 2;

    # httpd.conf
    PerlFixupHandler Apache::SizeLimit

    # or in a script, for this request alone
    Apache::SizeLimit->setmax(10_240);
    Apache::SizeLimit->setmin(4_096);
    Apache::SizeLimit->setmax_unshared(6_144);

=head1 DESCRIPTION

After the response, the process's size is read. Above a limit, the worker writes one line to the
error log and ends, and another is forked in its place. Limits are kilobytes; an unset one, or 0,
has no effect. C<$CHECK_EVERY_N_REQUESTS> is 1 by default: the size is checked after each request of
a client, but not after subrequests.

C<$DEBUG = 1> logs the sizes at each check; you may set it at any time.

The methods C<set_max_process_size>, C<set_min_shared_size>, C<set_max_unshared_size> and
C<set_check_interval> set the variables. C<add_cleanup_handler($r)> does the same as the handler,
for code that calls it itself.

=head1 DIFFERENCES

Sizes are resident memory, as L<GTop>'s C<size> and C<share>: untouched address space does not
count, and memory that a worker shares with the mold counts as shared.

=cut
