package PAGI::Server;

# Loaded before a test of PAGI-Server (-MPAGI::Server): the class of that name, of which Cameleer is the server. It takes the
# connections, and passes the streams of its event worker on to this process, where Cameleer::Event::PAGI calls the
# test's application. Arguments of the constructor become directives.

use v5.36;
use parent 'IO::Async::Notifier';
use Future::AsyncAwait;
use IO::Socket::INET ();
use IO::Socket::UNIX ();

use EventPool ();
use Cameleer::Event::PAGI ();

our $VERSION = '0.002005';

sub has_tls   { return eval { require IO::Async::SSL; 1 } ? 1 : 0 }
sub has_http2 { return 0 }

# Arguments that are directives: of a number, and of a number where 0 means no limit.
my %DIRECTIVES = (
    max_body_size         => 'LimitRequestBody',
    max_header_size       => 'LimitRequestFieldSize',
    max_header_count      => 'LimitRequestFields',
    max_request_line_size => 'LimitRequestLine',
    max_connections       => 'MaxConnections',
    timeout               => 'KeepAliveTimeout',
    request_timeout       => 'RequestTimeout',
    ws_idle_timeout       => 'EventIdleTimeout',
    sse_idle_timeout      => 'EventIdleTimeout',
    max_ws_frame_size     => 'WebSocketMaxMessage',
);

# Arguments without a meaning here, and those that the methods read.
my %KNOWN = map { $_ => 1 } qw(app host port socket listen ssl quiet access_log access_log_format log_level lifespan_mode shutdown_timeout
  lifespan_startup_timeout socket_mode disable_tls extensions loop_type max_receive_queue
  write_high_watermark write_low_watermark), keys %DIRECTIVES;

# Longest time for connections of clients at a shutdown, in seconds. The class has 30.
use constant SHUTDOWN_SECONDS => 2;

sub configure ( $self, %arguments ) {
    delete $arguments{workers} if !$arguments{workers};
    my @unknown = grep { !$KNOWN{$_} } sort keys %arguments;
    die "no directive for @unknown\n" if @unknown;
    my $mode = $arguments{lifespan_mode} // 'auto';
    die "Invalid lifespan_mode '$mode' - must be one of: auto, on, off\n" if $mode !~ /\A(?:auto|on|off)\z/;
    $self->{$_} = delete $arguments{$_} for keys %arguments;
    return;
}

async sub listen ($self) {
    my $events = $self->{events} = PAGI::Server::Events->new( $self->{app}, { graceful => $self->{shutdown_timeout} // SHUTDOWN_SECONDS, slot => 0 } );
    die "Lifespan startup failed\n" if ( $self->{lifespan_mode} // 'auto' ) ne 'off' && !$events->start;
    my $lifespan = $events->{lifespan};
    die "Lifespan startup failed: the application declined\n" if ( $self->{lifespan_mode} // '' ) eq 'on' && $lifespan->{is_over};
    $events->{state} //= {};
    my $pool = $self->{pool} = $self->pool;
    my $loop = $self->loop;
    $loop->watch_io( handle => $pool->{streams}, on_read_ready => sub {
        my $descriptor = $pool->descriptor;
        return $events->add($descriptor) if defined $descriptor;
        $loop->unwatch_io( handle => $pool->{streams}, on_read_ready => 1 );
    } );
    $self->{is_running} = 1;
    return $self;
}

# The places to listen on: those of `listen`, or `socket`, or `host` and `port`.
sub places ($self) {
    my @given = $self->{listen} ? @{ $self->{listen} } : defined $self->{socket} ? { socket => $self->{socket} } : { %$self{qw(host port)} };
    for my $given (@given) {
        next if $given->{socket};
        $given->{host} //= '127.0.0.1';
        $given->{port} ||= EventPool->free_port;
    }
    return @given;
}

sub pool ($self) {
    my @places = @{ $self->{places} = [ $self->places ] };
    ( $self->{first_port} ) = map { $_->{port} // () } @places;
    my $directives = 'GracefulShutdownTimeout ' . ( $self->{shutdown_timeout} // SHUTDOWN_SECONDS ) . "\n";
    $directives .= "$DIRECTIVES{$_} $self->{$_}\n" for grep { $self->{$_} } sort keys %DIRECTIVES;
    $directives .= tls( $self->{ssl} ) if $self->{ssl};
    return EventPool->new(
        listen     => [ map { $_->{socket} // "$_->{host}:$_->{port}" } @places ],
        directives => $directives,
        probe      => sub {
            return !grep { !( $_->{socket} ? IO::Socket::UNIX->new( Peer => $_->{socket} ) : IO::Socket::INET->new("$_->{host}:$_->{port}") ) } @places;
        },
    );
}

sub tls ($ssl) {
    my $lines = "SSLEngine On\nSSLCertificateFile \"$ssl->{cert_file}\"\nSSLCertificateKeyFile \"$ssl->{key_file}\"\n";
    $lines .= "SSLCACertificateFile \"$ssl->{ca_file}\"\n" if $ssl->{ca_file};
    $lines .= 'SSLVerifyClient ' . ( $ssl->{verify_client} ? 'require' : 'optional' ) . "\n" if $ssl->{ca_file};
    return $lines;
}

# As the server stops: the worker learns of it, requests have their time, and the application's lifespan ends.
async sub shutdown ($self) {
    return if !delete $self->{is_running};
    my ( $pool, $events, $loop ) = ( $self->{pool}, $self->{events}, $self->loop );
    my $is_over = $loop->new_future;
    $events->{on_over} = sub { $is_over->done if !$is_over->is_ready };
    $loop->watch_io( handle => $pool->{leave}, on_read_ready => sub {
        $loop->unwatch_io( handle => $pool->{leave}, on_read_ready => 1 );
        $events->leave;
    } );
    $pool->terminate;
    await $is_over;
    $events->stop if $events->{lifespan};
    $loop->unwatch_io( handle => $pool->{streams}, on_read_ready => 1 );
    $pool->stop;
    return $self;
}

sub port             ($self) { return $self->{first_port} }
sub socket_path      ($self) { return ( map { $_->{socket} // () } @{ $self->{places} } )[0] }
sub listeners        ($self) { return $self->{places} }
sub is_running       ($self) { return $self->{is_running} ? 1 : 0 }
sub connection_count ($self) { return scalar keys %{ $self->{events}{streams} } }

package PAGI::Server::Events;

use v5.36;
use parent -norequire, 'Cameleer::Event::PAGI';

# The loop is the test's, so it goes on.
sub over ($self) {
    return if $self->{is_over}++;
    $self->{on_over}->() if $self->{on_over};
    return;
}

$INC{'PAGI/Server.pm'} //= __FILE__;

1;
