package Apache::SpeedLimit;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK DECLINED FORBIDDEN);
use Digest::MD5       ();
use Fcntl             qw(LOCK_EX LOCK_UN);
use Time::HiRes       ();

# The table of clients, shared by all workers: an unnamed file, opened before the fork. A client has one slot,
# by its hash; clients with the same slot replace each other, which errs on the side of admission.
my $PLACES = 4096;

# Hash, start of the count, number of requests, time of the last refusal.
my $RECORD = 'a8 d L x4 d';
my $SIZE   = length pack $RECORD, '', 0, 0, 0;

open my $table, '+>', undef or die "Apache::SpeedLimit: cannot create a temporary file: $!\n";
my ( $own, $owner );

# PerlAccessHandler: refuses clients with more than SpeedLimit requests per minute.
sub handler {
    my $r     = $_[-1];
    my $limit = $r->dir_config('SpeedLimit');
    return DECLINED if !$limit || !$r->is_main;
    my %say = (
        limit   => $limit,
        samples => $r->dir_config('SpeedSamples') // 10,
        forgive => 60 * ( $r->dir_config('SpeedForgive') // 30 )
    );
    my $rate = with_record( hash_of($r), sub ($record) { seen( $record, time_now(), %say ) } );
    return OK if !defined $rate;
    $r->log_reason( sprintf( 'the client sends %.0f requests per minute, SpeedLimit is %s', $rate, $limit ), $r->uri );
    return FORBIDDEN;
}

sub time_now { return Time::HiRes::time() }

# Clients behind a proxy are distinguished by User-Agent.
sub hash_of ($r) {
    return substr Digest::MD5::md5( $r->connection->remote_ip . "\0" . ( $r->header_in('User-Agent') // '' ) ), 0, 8;
}

# Counts a request; returns the rate if it is too high. A refused client starts anew after a quiet period.
sub seen ( $record, $now, %say ) {
    my $last = $record->{refused} || $record->{since};
    @$record{qw(since count refused)} = ( $now, 0, 0 ) if $now - $last > $say{forgive};
    $record->{count}++;
    my $rate = 60 * $record->{count} / ( ( $now - $record->{since} ) || 0.001 );
    if ( $record->{count} <= $say{samples} || $rate <= $say{limit} ) {
        $record->{refused} = 0;
        return;
    }
    $record->{refused} = $now;
    return $rate;
}

# Each process opens the file itself: a lock does not separate processes that share an open file.
sub with_record ( $hash, $do ) {
    if ( ( $owner // 0 ) != $$ ) {
        open $own, '+<:raw', '/proc/self/fd/' . fileno $table or die "Apache::SpeedLimit: cannot open its table: $!\n";
        $owner = $$;
    }
    flock $own, LOCK_EX or die "Apache::SpeedLimit: cannot lock its table: $!\n";
    my $at = $SIZE * ( unpack( 'L', $hash ) % $PLACES );
    sysseek $own, $at, 0;
    my ( %record, $bytes );
    my $read = sysread $own, $bytes, $SIZE;
    @record{qw(hash since count refused)} = unpack $RECORD, $bytes if ( $read // 0 ) == $SIZE;
    %record = ( hash => $hash, since => time_now(), count => 0, refused => 0 ) if ( $record{hash} // '' ) ne $hash;
    my $result = $do->( \%record );
    sysseek $own, $at, 0;
    syswrite $own, pack $RECORD, @record{qw(hash since count refused)};
    flock $own, LOCK_UN;
    return $result;
}

1;

__END__

=head1 NAME

Apache::SpeedLimit - refuses clients that send requests too fast

=head1 SYNOPSIS

    PerlModule Apache::SpeedLimit
    <Location />
        PerlAccessHandler Apache::SpeedLimit
        # requests a minute
        PerlSetVar SpeedLimit   20
        # but the first 10 are free
        PerlSetVar SpeedSamples 10
        # minutes until a refused client may begin anew
        PerlSetVar SpeedForgive 30
    </Location>

=head1 DESCRIPTION

A client is an address and a C<User-Agent>. Its mean rate is measured from its first request on,
over all workers. When it has sent more than C<SpeedSamples> requests, and more than C<SpeedLimit>
per minute, it gets 403, and the error log a line, until its mean rate is below the limit again or
C<SpeedForgive> minutes have passed without a request.

Load the module by C<PerlModule> or C<PerlRequire>, before the workers are forked, so that they
share its table. Subrequests do not count. Without C<SpeedLimit> no client is refused;
C<SpeedSamples> defaults to 10 and C<SpeedForgive> to 30.

=cut
