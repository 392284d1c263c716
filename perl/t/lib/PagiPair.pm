package PagiPair;

# A server of PAGI in this process, and the front's end of one of its streams.

use v5.36;
use Test::More;
use POSIX  ();
use Socket ();
use Cameleer::Event::PAGI;
use Future::AsyncAwait;

our @WARNINGS;

# The server of this process has no profiler.
sub Cameleer::Event::begins { return }
sub Cameleer::Event::ends   { return }

# Skips all tests where the modules of PAGI's applications are missing.
sub available {
    return eval { require IO::Async::Loop; require Future::IO::Impl::IOAsync; 1 };
}

sub new ( $class, $app, %conf ) {
    local $SIG{__WARN__} = sub ($text) { push @WARNINGS, $text };
    my $server = Cameleer::Event::PAGI->new( $app, \%conf );
    my $self   = bless { server => $server, in => '', app => $app }, $class;
    $self->{started} = $server->start;
    return $self->connect;
}

# Another stream of the same server.
sub connect ($self) {
    socketpair my $front, my $worker, Socket::AF_UNIX(), Socket::SOCK_STREAM(), 0 or die "socketpair: $!";
    $front->blocking(0);
    my $stream = $self->{server}->add( POSIX::dup( fileno $worker ) );
    return bless { %$self, front => $front, stream => $stream, in => '', ended => 0 }, ref $self;
}

# Turns the loop until the condition is true.
sub turn ( $self, $condition ) {
    local $SIG{__WARN__} = sub ($text) { push @WARNINGS, $text };
    my $deadline = time + 20;
    until ( $condition->() ) {
        time < $deadline or BAIL_OUT("the condition never became true; received: $self->{in}");
        $self->{server}{loop}->loop_once(0.05);
    }
    return;
}

sub send ( $self, $bytes ) {
    my $written = syswrite $self->{front}, $bytes;
    $written == length $bytes or die "short write: $!";
    return $self;
}

sub read_some ($self) {
    my ( $read, $piece );
    $self->{in} .= $piece while $read = sysread $self->{front}, $piece, 1 << 16;
    $self->{ended} = 1 if defined $read && !$read || !defined $read && $!{ECONNRESET};
    return;
}

# What has arrived once it matches, which is removed.
sub until ( $self, $pattern ) {
    $self->turn( sub { $self->read_some; $self->{in} =~ $pattern || $self->{ended} } );
    my $found = delete $self->{in};
    $self->{in} = '';
    return $found;
}

# A response to a request.
sub get ( $self, $target = '/', $fields = '', $method = 'GET' ) {
    return $self->send( request( $target, $fields, $method ) )->response($method);
}

sub request ( $target, $fields = '', $method = 'GET' ) {
    return "$method $target HTTP/1.1\r\nHost: a\r\nCameleer-Client: 192.0.2.1 4711\r\nCameleer-Server: 192.0.2.9 80\r\n$fields\r\n";
}

# The head, and the body without its framing, as text.
sub response ( $self, $method = 'GET' ) {
    my $is_whole = sub {
        $self->read_some;
        return 1 if $self->{ended};
        my ( $head, $body ) = split /\r\n\r\n/, $self->{in}, 2;
        return 0 if !defined $body;
        return 1 if $method eq 'HEAD' || $head =~ m{\AHTTP/1.1 (?:204|304)};
        return $head =~ /^content-length: (\d+)/mi ? length $body >= $1 : $body =~ /^0\r\n(?:[^\r\n]+\r\n)*\r\n\z/m;
    };
    $self->turn($is_whole);
    my ( $head, $body ) = split /\r\n\r\n/, delete $self->{in}, 2;
    $self->{in} = '';
    if ( $head =~ /^transfer-encoding: chunked/mi ) {
        my $whole = '';
        while ( $body =~ s/\A([0-9a-f]+)\r\n// ) {
            my $size = hex $1 or last;
            $whole .= substr $body, 0, $size, '';
            $body =~ s/\A\r\n//;
        }
        $body = $whole . ( $body =~ s/\r\n\z//r =~ s/\A(?=.)/\n/sr );
    }
    return "$head\n\n$body" =~ s/\r\n/\n/gr;
}

sub frame ( $kind, $payload ) { return pack( 'C N', $kind, length $payload ) . $payload }

sub handshake ( $self, $target = '/', $fields = '' ) {
    return $self->send( request( $target, "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n$fields" ) );
}

# The next frame of the worker: its kind and its payload.
sub frame_of ($self) {
    my ( $kind, $length );
    $self->turn(
        sub {
            $self->read_some;
            ( $kind, $length ) = unpack 'C N', $self->{in} if length $self->{in} >= 5;
            return $self->{ended} || defined $length && length $self->{in} >= 5 + $length;
        }
    );
    return if !defined $length;
    my $frame = substr $self->{in}, 0, 5 + $length, '';
    return ( $kind, substr $frame, 5 );
}

sub warnings { my @all = splice @WARNINGS; return join '', @all }

1;
