package Cameleer::Event::PSGI::Exchange;

use v5.36;
use Errno        ();
use Scalar::Util ();

use Cameleer::Event::PSGI::Environment ();
use Cameleer::Event::PSGI::Response    ();
use Cameleer::Event::PSGI::Socket      ();
use Cameleer::Event::PSGI::Writer      ();
use Cameleer::Event::Status            ();

# One request of a PSGI application: its body is collected, the application is called, its response is sent.

# A longer body is in a temporary file.
use constant MAX_BYTES_IN_MEMORY => 65_536;

# A body that is always ready lets other requests pass after this number of pieces.
use constant PIECES_IN_TURN => 16;
use constant PIECE_BYTES    => 65_536;

sub new ( $class, $stream, $method, $target, $fields ) {
    my $self = bless { stream => $stream, server => $stream->{server}, head => [ $method, $target, $fields ], body => '', length => 0 }, $class;
    $self->{is_head} = 1 if $method eq 'HEAD';
    return $self;
}

# It never stops the stream.
sub is_full ($self) { return 0 }

# Whether nothing more can be sent.
sub is_over ($self) { return $self->{is_over} || $self->{is_complete} || !$self->{stream} || $self->{stream}{is_closed} }

sub body ( $self, $piece, $more ) {
    return if $self->{is_answered};
    $self->{length} += length $piece;
    eval { $self->store($piece); 1 } or return $self->failed("the request's body: $@");
    $self->answer if !$more;
    return;
}

sub store ( $self, $piece ) {
    if ( !$self->{file} ) {
        $self->{body} .= $piece;
        return if length $self->{body} <= MAX_BYTES_IN_MEMORY;
        open $self->{file}, '+>:raw', undef or die "$!\n";
        $piece = delete $self->{body};
    }
    print { $self->{file} } $piece or die "$!\n";
    return;
}

# The body as a handle that can be read and sought.
sub input ($self) {
    if ( my $file = delete $self->{file} ) {
        seek $file, 0, 0 or die "$!\n";
        return $file;
    }
    my $body = delete $self->{body};
    open my $input, '<', \$body or die "$!\n";
    return $input;
}

# The body is there: calls the application.
sub answer ($self) {
    my $response = eval {
        my $env = Cameleer::Event::PSGI::Environment::of( @{ delete $self->{head} }, $self->{length}, $self->input );
        $self->{env} = $env;
        $self->add_socket($env) if defined $env->{HTTP_UPGRADE} && lc $env->{HTTP_UPGRADE} ne 'h2c';
        $self->{server}->call($env);
    };
    return $self->failed($@) if !defined $response && $@ ne '';
    my $is_delayed = ref $response && ref $response ne 'ARRAY' && eval { defined \&$response };
    $is_delayed ? $self->delayed($response) : $self->respond( $response, 0 );
    # From now on a response below 300 may come from an application that has answered on the socket.
    $self->{is_waiting} = 1;
    $self->look_at_use if !$self->{is_answered};
    return;
}

# The application may take the connection. Then nothing here reads from it, and it serves no other request.
sub add_socket ( $self, $env ) {
    my $stream = $self->{stream};
    $stream->pause(1);
    # The application has the only reference. For its cleanup handlers there is a copy of the environment.
    $self->{env}       = {%$env};
    $self->{is_last}   = 1;
    $env->{'psgix.io'} = $self->{socket} = Cameleer::Event::PSGI::Socket->of($self);
    $self->{given} = $env;
    Scalar::Util::weaken( $self->{$_} ) for qw(socket given);
    $self->{server}->watch_socket($self);
    return;
}

# Gives the application the responder, which it may call later. One that nobody has any more was lost.
sub delayed ( $self, $callback ) {
    my $guard     = bless { exchange => $self }, 'Cameleer::Event::PSGI::Responder';
    my $responder = sub ( $response, @ ) {
        die "PSGI: the responder was called twice\n" if $guard->{is_called}++;
        return $self->respond( $response, 1 );
    };
    eval { $self->{server}->call( $self->{env}, sub ($env) { $callback->($responder) } ); 1 } or $self->failed($@);
    return;
}

# Sends a response, or begins one. Returns a writer for a response without a body.
sub respond ( $self, $response, $is_delayed ) {
    my $has_body = ref $response ne 'ARRAY' || @$response != 2;
    my $is_ours  = !$self->is_over && !$self->{is_answered} && !$self->has_socket($response);
    $self->{is_answered} = 1;
    my $is_begun = $is_ours && eval {
        Cameleer::Event::PSGI::Response::check( $response, $is_delayed );
        $self->begin(@$response);
        1;
    };
    $self->failed($@) if $is_ours && !$is_begun;
    return $has_body ? undef : Cameleer::Event::PSGI::Writer->new( $is_begun ? $self : undef );
}

# Whether the application has answered on the socket: with a status below 300 it says that it needs no response.
sub has_socket ( $self, $response ) {
    return 0 if !$self->{is_waiting};
    $self->look_at_use;
    my $is_fine = ref $response eq 'ARRAY' && ( $response->[0] // '' ) =~ /\A2/;
    return 0 if !$self->{is_taken} || !$is_fine;
    $self->{server}->later( sub { $self->socket_is_gone } ) if !$self->{socket};
    return 1;
}

sub begin ( $self, $status, $headers, $body = undef ) {
    $status = Cameleer::Event::PSGI::Response::status($status);
    my ( $fields, $framing ) = Cameleer::Event::PSGI::Response::fields($headers);
    $self->frame( $status, $framing, Cameleer::Event::PSGI::Response::length_of($body) );
    my $bytes = ref $body eq 'ARRAY' ? join '', map { Cameleer::Event::PSGI::Response::bytes($_) } @$body : '';
    $self->{stream}{closes} = 1 if $self->{is_last} || $self->{server}{is_leaving};
    my $end = $self->{stream}{closes} ? "Connection: close\r\n" : '';
    $self->{is_begun} = 1;
    my $head = "HTTP/1.1 $status " . Cameleer::Event::Status::reason($status) . "\r\n$fields$self->{framing}$end\r\n";
    $self->{stream}->write( $head . $self->framed($bytes) );
    return                 if !defined $body;
    return $self->complete if ref $body eq 'ARRAY';
    $self->{source} = $body;
    $self->pump;
    return;
}

# How the end of the body is found.
sub frame ( $self, $status, $framing, $length ) {
    my $given = $framing->{'content-length'};
    die "PSGI: the Content-Length \"$given\" is not a number\n" if defined $given && $given !~ /\A[0-9]{1,18}\z/;
    undef $given if $status == 204;
    $self->{is_bodyless} = $self->{is_head} || $status == 204 || $status == 205 || $status == 304;
    # A body that the application itself has divided into chunks.
    my $is_divided = lc( $framing->{'transfer-encoding'} // '' ) eq 'chunked' && !$self->{is_bodyless};
    $self->{is_last} = 1 if $is_divided;
    $given = 0           if $status == 205;
    $given //= $length   if !$is_divided && ( !$self->{is_bodyless} || $self->{is_head} && $length );
    $self->{left}       = $given if defined $given && !$self->{is_bodyless} && !$is_divided;
    $self->{is_chunked} = !$is_divided && !$self->{is_bodyless} && !defined $given;
    $self->{framing} =
        $is_divided || $self->{is_chunked} ? "Transfer-Encoding: chunked\r\n"
      : defined $given                     ? "Content-Length: $given\r\n"
      :                                      '';
    return;
}

# A piece of the body as it is sent. What is beyond Content-Length would be read as the next response.
sub framed ( $self, $bytes ) {
    return '' if $self->{is_bodyless};
    if ( defined $self->{left} ) {
        if ( length $bytes > $self->{left} ) {
            $self->report('the body is longer than its Content-Length') if !$self->{is_too_long}++;
            $bytes = substr $bytes, 0, $self->{left};
        }
        $self->{left} -= length $bytes;
        return $bytes;
    }
    return $bytes if $bytes eq '' || !$self->{is_chunked};
    return sprintf( "%x\r\n", length $bytes ) . $bytes . "\r\n";
}

sub send_piece ( $self, $bytes ) {
    $self->{stream}->write( $self->framed($bytes) ) if !$self->is_over;
    return;
}

# Whether more bytes than that wait for the client.
sub is_behind ( $self, $most ) { return !$self->is_over && length $self->{stream}{out} > $most }

# Reads the body from its object, as fast as the client takes it.
sub pump ($self) {
    for ( 1 .. PIECES_IN_TURN ) {
        return if $self->is_over;
        my $body  = $self->{source};
        my $piece = eval {
            local $/ = \PIECE_BYTES;    ## no critic: PSGI's way to ask for pieces
            $self->{is_bodyless} || defined $self->{left} && !$self->{left} ? undef : $body->getline;
        };
        return $self->failed($@)  if !defined $piece && $@ ne '';
        return $self->complete    if !defined $piece;
        eval { $self->send_piece( Cameleer::Event::PSGI::Response::bytes($piece) ); 1 } or return $self->failed($@);
        my $stream = $self->{stream} or return;
        return $stream->on_low( sub { $self->pump } ) if $stream->is_high;
    }
    $self->{server}->later( sub { $self->pump } ) if !$self->is_over;
    return;
}

# The body is over.
sub complete ($self) {
    return if $self->is_over;
    return $self->failed("the response ended $self->{left} bytes before its Content-Length\n") if $self->{left};
    my $stream = $self->{stream};
    $stream->write("0\r\n\r\n") if $self->{is_chunked};
    $self->{is_complete} = 1;
    $stream->flushed( sub { $self->finish } );
    return;
}

sub finish ($self) {
    my $stream = delete $self->{stream} or return;
    $self->{is_last} ? $self->cut($stream) : $stream->next($self);
    $self->over;
    return;
}

# Ends the stream also for those that have a duplicate of its descriptor.
sub cut ( $self, $stream ) {
    shutdown $stream->{handle}, 2 if $stream->{handle};
    $stream->close;
    return;
}

# What the request has is given up, and its cleanup handlers run. Its responder and its writer may live longer.
sub over ($self) {
    return if $self->{is_over}++;
    my ( $source, $env ) = delete @$self{qw(source env)};
    delete @$self{qw(polled body file head)};
    $self->{server}->forget_socket($self) if $self->{is_last};
    if ($source) {
        eval { $source->close; 1 } or $self->report($@);
    }
    for my $handler ( @{ $env->{'psgix.cleanup.handlers'} // [] } ) {
        eval { $handler->($env); 1 } or $self->report($@);
    }
    return;
}

# The client has left.
sub lost ( $self, $reason ) {
    delete $self->{stream};
    $self->over;
    return;
}

# Ends the stream before the response is complete.
sub break ($self) {
    my $stream = $self->{stream};
    $self->lost('');
    $self->cut($stream) if $stream;
    return;
}

# The server stops, and its time is over.
sub leave ($self) { return $self->break }

sub failed ( $self, $error ) {
    $self->report($error);
    return if $self->is_over;
    $self->{is_answered} = 1;
    return $self->break if $self->{is_begun} || $self->{is_taken};
    my $status = Cameleer::Event::Status::of_error($error);
    my $text   = Cameleer::Event::Status::reason($status) . "\n";
    $self->begin( $status, [ 'Content-Type' => 'text/plain' ], [$text] );
    return;
}

sub report ( $self, $what ) {
    my $text = $what =~ /\APSGI: / ? $what : "PSGI: $what";
    warn $text =~ /\n\z/ ? $text : "$text\n";
    return;
}

# The responder is gone, and was not called.
sub abandoned ($self) {
    return if $self->is_over || $self->{is_answered};
    # An application that has the socket answers there.
    if ( $self->{is_last} && ( $self->{socket} || $self->{is_taken} ) ) {
        $self->{is_abandoned} = 1;
        return $self->{socket} ? undef : $self->break;
    }
    return $self->failed("the application has lost its responder without a call\n");
}

# Nobody has the object of the socket any more. Its descriptor is closed in a moment.
sub socket_is_gone ($self) {
    my $stream = $self->{stream} or return;
    $self->{server}->later(
        sub {
            return if $self->is_over || $self->{is_begun};
            return $self->break if $self->{is_taken} || $self->{is_abandoned};
            # The application has not used it.
            $self->{server}->forget_socket($self);
            $stream->pause(0);
        }
    );
    return;
}

sub look_at_use ($self) {
    $self->{is_taken} ||= $self->{socket}->is_taken( $self->{given} ) if $self->{socket};
    return;
}

# Notes whether the application has the socket, and whether it or the front has closed it. Nothing here reads from the
# socket of an application; without a peer, sending no bytes fails.
sub look_at_socket ($self) {
    return if !$self->{socket};
    $self->look_at_use;
    my $handle  = $self->{stream} && $self->{stream}{handle};
    my $is_lost = $handle && !defined send( $handle, '', 0 ) && $!{EPIPE};
    $self->break if $is_lost || !defined fileno $self->{socket} && !$self->{is_begun};
    return;
}

package Cameleer::Event::PSGI::Responder;

# Notes that a responder is gone.

sub DESTROY ($self) {
    return if $self->{is_called} || ${^GLOBAL_PHASE} eq 'DESTRUCT';
    local ( $@, $!, $? );
    $self->{exchange}->abandoned;
    return;
}

1;
