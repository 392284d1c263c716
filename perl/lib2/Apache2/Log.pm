package Apache2::Log;

use v5.36;

use Apache2::RequestRec ();
use Apache2::ServerRec  ();
use Apache::Log         ();

@Apache2::Log::Request::ISA = @Apache2::Log::Server::ISA = (__PACKAGE__);

# Position of a line's context (worker and request), as in apache.h.
use constant { LEADS => 0, FOLLOWS => 1, NOWHERE => 2, BARE => 3 };

my @LEVELS = qw(emerg alert crit error warn notice info debug);

# Called on an object, or on the class for the main server. Code runs only if the level is logged.
for my $number ( 0 .. $#LEVELS ) {
    no strict 'refs';
    *{ $LEVELS[$number] } = sub {
        my ( $self, @text ) = @_;
        my $server = ref $self ? $self->{server} : Apache2::ServerUtil->server;
        return if $number > $server->loglevel && $LEVELS[$number] ne 'notice';
        my $text = @text == 1 && ref $text[0] eq 'CODE' ? $text[0]->() : join '', map { $_ // '' } @text;
        Apache::Log::write( $number, $text, ref $self && $self->{request} ? LEADS : NOWHERE );
        return;
    };
}

# For log_serror and log_rerror: the caller's file and line.
sub LOG_MARK { return ( caller(0) )[ 1, 2 ] }

# httpd's format: the system's error text comes before the client; LOG_STARTUP lines have no prefix; LOG_DEBUG
# lines have the place.
sub _write ( $level, $status, $text, $place, $client = undef ) {
    $text = "[client $client] $text" if defined $client;
    if ($status) {
        require APR::Error;
        $text = "($status)" . APR::Error::strerror($status) . ": $text";
    }
    $text = "$place: $text" if ( $level & 7 ) == $#LEVELS;
    require Apache2::Const;
    my $context = $level & Apache2::Const::LOG_STARTUP() ? BARE : defined $client ? FOLLOWS : NOWHERE;
    Apache::Log::write( $level & 7, $text, $context );
    return;
}

sub log_pid ( $pool, $name ) {
    open my $file, '>', $name or die "cannot write $name: $!\n";
    print {$file} "$$\n";
    close $file or die "cannot write $name: $!\n";
    return;
}

package Apache2::RequestRec {
    sub log ($r) { return bless { server => $r->server, request => $r }, 'Apache2::Log::Request' }    ## no critic

    sub log_error { my ( undef, @text ) = @_; return Apache::Log::write( 3, join( '', @text ), Apache2::Log::FOLLOWS ) }
    sub warn      { my ( undef, @text ) = @_; return Apache::Log::write( 4, join( '', @text ), Apache2::Log::FOLLOWS ) } ## no critic

    sub log_reason ( $r, $reason, $file = $r->uri ) {
        my $who = $r->connection->client_ip;
        return $r->log_error("access to $file failed for $who, reason: $reason");
    }

    sub log_rerror ( $r, $file, $line, $level, $status, $text ) {
        return if ( $level & 7 ) > $r->server->loglevel;
        require Apache2::Connection;
        my $address = $r->connection->client_addr;
        return Apache2::Log::_write( $level, $status, $text, "$file($line)", join ':', $address->ip_get, $address->port );
    }
}

package Apache2::ServerRec {
    sub log ($s) { return bless { server => ref $s ? $s : Apache2::ServerUtil->server }, 'Apache2::Log::Server' }    ## no critic

    # log_error and warn are methods of a server and functions.
    sub log_error { shift if ref $_[0]; return Apache::Log::write( 3, join( '', @_ ), Apache2::Log::NOWHERE ) }
    sub warn { shift if ref $_[0] || @_ > 1; return Apache::Log::write( 4, join( '', @_ ), Apache2::Log::NOWHERE ) } ## no critic

    sub log_serror ( $s, $file, $line, $level, $status, $text ) {
        return if ( $level & 7 ) > $s->loglevel;
        return Apache2::Log::_write( $level, $status, $text, "$file($line)" );
    }
}

1;

__END__

=head1 NAME

Apache2::Log - the error log, with levels

=head1 SYNOPSIS

    use Apache2::Log ();

    $r->log->error("no such user: $name");
    $s->log->debug( sub { 'state: ' . dump_of($state) } );    # runs if the level is logged
    $r->log_error('text');
    $r->log_rerror( Apache2::Log::LOG_MARK, Apache2::Const::LOG_ERR, APR::Const::ENOENT, 'text' );

=cut
