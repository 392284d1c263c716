package Apache::GTopLimit;

use v5.36;

use Apache                 ();
use Apache::Constants      qw(DECLINED);
use Cameleer::ProcessLimit ();

our $VERSION = '1.02';

our ( $MAX_PROCESS_SIZE, $MIN_PROCESS_SHARED_SIZE, $MAX_PROCESS_UNSHARED_SIZE );
our $CHECK_EVERY_N_REQUESTS;
our $DEBUG;
$DEBUG //= Apache->server->dir_config('Apache::GTopLimit::DEBUG');

my $limit = Cameleer::ProcessLimit->new(
    name   => __PACKAGE__,
    debug  => sub { $DEBUG },
    limits => sub {
        ( size => $MAX_PROCESS_SIZE, share => $MIN_PROCESS_SHARED_SIZE, unshared => $MAX_PROCESS_UNSHARED_SIZE );
    },
);

sub handler {
    $limit->watch( $_[-1], $CHECK_EVERY_N_REQUESTS );
    return DECLINED;
}

# Limits for this request only; called as functions or as methods.
sub set_max_size          { return $limit->for_this_request( size     => $_[-1] ) }
sub set_min_shared_size   { return $limit->for_this_request( share    => $_[-1] ) }
sub set_max_unshared_size { return $limit->for_this_request( unshared => $_[-1] ) }

1;

__END__

=head1 NAME

Apache::GTopLimit - ends workers that have grown too large or share too little memory

=head1 SYNOPSIS

    # startup.pl
    use Apache::GTopLimit;
    $Apache::GTopLimit::MAX_PROCESS_SIZE          = 10_240;    # kilobytes
    $Apache::GTopLimit::MIN_PROCESS_SHARED_SIZE   = 4_096;
    $Apache::GTopLimit::MAX_PROCESS_UNSHARED_SIZE = 6_144;
    $Apache::GTopLimit::CHECK_EVERY_N_REQUESTS    = 2;

    # httpd.conf
    PerlFixupHandler Apache::GTopLimit
    PerlSetVar Apache::GTopLimit::DEBUG 1

    # or in a script, for this request alone
    Apache::GTopLimit->set_max_size(10_000);
    Apache::GTopLimit->set_min_shared_size(4_096);
    Apache::GTopLimit->set_max_unshared_size(6_144);

=head1 DESCRIPTION

The same as L<Apache::SizeLimit>, under the names that sites with libgtop use. The debug variable is
read when the module is loaded.

=cut
