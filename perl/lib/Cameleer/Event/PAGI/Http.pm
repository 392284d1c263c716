package Cameleer::Event::PAGI::Http;

use v5.36;
use parent 'Cameleer::Event::PAGI::Exchange';
use Fcntl ();

# A request of the scope `http`, and what the scope `sse` shares with it: a response with a body.

use constant FILE_BYTES => 65_536;

my %EVENTS = (
    'http.response.start'    => 'start',
    'http.response.body'     => 'write_body',
    'http.response.trailers' => 'trailers',
    'http.fullflush'         => 'fullflush',
);

sub events ($self) { return \%EVENTS }
sub scope_type     { return 'http' }

sub new ( $class, $stream, $scope ) {
    my $self = Cameleer::Event::PAGI::Exchange::new( $class, $stream, $scope );
    $self->{is_head} = 1 if $scope->{method} eq 'HEAD';
    $self->{state} = $scope->{'pagi.connection'} = Cameleer::Event::PAGI::State->new if $scope->{type} eq 'http';
    $self->{expects} = 1 if $stream->{body} && grep { $_->[0] eq 'expect' && lc $_->[1] eq '100-continue' } @{ $scope->{headers} };
    $self->deliver( $self->request_event( '', 0 ) ) if !$stream->{body};
    return $self;
}

sub request_event ( $self, $body, $more ) {
    return { type => $self->scope_type . '.request', body => $body, more => $more };
}

sub body ( $self, $piece, $more ) {
    return $self->deliver( $self->request_event( $piece, $more ) );
}

sub receive ($self) {
    if ( delete $self->{expects} && !$self->{is_started} ) {
        $self->{stream}->write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    return $self->SUPER::receive;
}

sub start ( $self, $event ) {
    my $status  = Cameleer::Event::PAGI::Check::status($event);
    my @headers = Cameleer::Event::PAGI::Check::headers($event);
    $self->{is_started} and Cameleer::Event::PAGI::Check::refused( $event, 'the response has already started' );
    my @lengths = grep { $_->[0] eq 'content-length' } @headers;
    @lengths <= 1 && ( !@lengths || $lengths[0][1] =~ /\A[0-9]{1,18}\z/ )
      or Cameleer::Event::PAGI::Check::refused( $event, 'the content-length is not one number' );
    $self->{is_started}   = 1;
    $self->{is_bodyless}  = $self->{is_head} || $status == 204 || $status == 304;
    $self->{has_trailers} = $event->{trailers} && !$self->{is_bodyless} ? 1 : 0;
    @headers = grep { $_->[0] ne 'content-length' } @headers if $self->{has_trailers} || $status == 204;
    $self->{left} = $lengths[0][1] if @lengths && !$self->{has_trailers} && !$self->{is_bodyless};
    $self->{head} = Cameleer::Event::PAGI::Exchange::head( $status, @headers );
    $self->{has_length} = 1 if @lengths;
    if ( $self->{stream}{server}{is_leaving} ) {
        $self->{stream}{closes} = 1;
        $self->{head} .= "connection: close\r\n";
    }
    $self->{state}{started} = 1 if $self->{state};
    # The head leaves with the first part of the body, or when the application has had its turn.
    $self->{stream}{server}->later( sub { $self->fullflush } ) if !$self->{turn};
    return;
}

# Sends the head. `length` is the length of the body, if that is known.
sub flush_head ( $self, $length = undef ) {
    my $head = delete $self->{head} // return '';
    return "$head\r\n" if $self->{is_bodyless} && ( !defined $length || !$self->{is_head} || $self->{has_length} );
    return "$head\r\n" if defined $self->{left};
    if ( defined $length && !$self->{has_trailers} ) {
        $self->{left} = $length if !$self->{is_bodyless};
        return "${head}content-length: $length\r\n\r\n";
    }
    $self->{is_chunked} = 1;
    return "${head}transfer-encoding: chunked\r\n\r\n";
}

sub fullflush ( $self, $event = undef ) {
    $self->{stream}->write( $self->flush_head ) if !$self->{is_over} && defined $self->{head};
    return;
}

sub write_body ( $self, $event ) {
    $self->{is_started} or Cameleer::Event::PAGI::Check::refused( $event, 'the response has not started' );
    my @sources = grep { defined $event->{$_} } qw(body file fh);
    @sources <= 1 or Cameleer::Event::PAGI::Check::refused( $event, "only one of @sources is possible" );
    return if $self->{is_complete} || $self->{is_body_over};
    return $self->write_file($event) if @sources && $sources[0] ne 'body';
    my $body = Cameleer::Event::PAGI::Check::bytes( $event, 'body' );
    my $more = Cameleer::Event::PAGI::Check::integer( $event, 'more', 0 );
    $self->piece( $body, $more );
    return $self->drain;
}

# Sends a part of the body.
sub piece ( $self, $body, $more ) {
    if ( defined $self->{left} && length $body > $self->{left} && !$self->{is_bodyless} ) {
        die "PAGI: the body is longer than its content-length\n";
    }
    my $output = $self->flush_head( $more ? undef : length $body );
    if ( $self->{is_bodyless} ) { $body = '' }
    elsif ( defined $self->{left} ) {
        $self->{left} -= length $body;
        $output .= $body;
    }
    elsif ( $body ne '' ) {
        $output .= sprintf( "%x\r\n", length $body ) . $body . "\r\n";
    }
    $output .= "0\r\n\r\n" if $self->{is_chunked} && !$more && !$self->{has_trailers};
    $self->{stream}->write($output);
    return if $more;
    $self->{is_body_over} = 1;
    $self->complete if !$self->{has_trailers};
    return;
}

sub write_file ( $self, $event ) {
    my $offset = Cameleer::Event::PAGI::Check::integer( $event, 'offset', 0 );
    my $length = defined $event->{length} ? Cameleer::Event::PAGI::Check::integer( $event, 'length' ) : undef;
    my $handle = $event->{fh};
    if ( defined $event->{file} ) {
        open $handle, '<:raw', $event->{file} or die "PAGI: $event->{file}: $!\n";
    }
    my $number = eval { fileno $handle };
    defined $number or Cameleer::Event::PAGI::Check::refused( $event, 'fh is not an open file' );
    my $is_file = $number >= 0 && -f $handle;
    if ( $number < 0 ) {
        # A file in memory.
        !$offset || seek $handle, $offset, Fcntl::SEEK_SET or Cameleer::Event::PAGI::Check::refused( $event, "offset $offset: $!" );
    }
    elsif ( $offset || $is_file && defined $event->{offset} || defined $event->{file} ) {
        sysseek $handle, $offset, Fcntl::SEEK_SET or Cameleer::Event::PAGI::Check::refused( $event, "offset $offset: $!" );
    }
    elsif ($is_file) {
        # Where the application has read to, which its buffer may be ahead of.
        sysseek $handle, tell $handle, Fcntl::SEEK_SET;
    }
    if ($is_file) {
        my $rest = ( -s _ ) - sysseek( $handle, 0, Fcntl::SEEK_CUR );
        $rest   = 0     if $rest < 0;
        $length = $rest if !defined $length || $length > $rest;
    }
    $self->{is_body_over} = 1;
    my $sent = Future->new;
    $self->pump( { handle => $handle, left => $length, is_memory => $number < 0, sent => $sent } );
    return $sent;
}

# Sends the next parts of a file, as fast as the client takes them.
sub pump ( $self, $file ) {
    my $is_first = 1;
    while ( !$self->{is_over} ) {
        my $size = defined $file->{left} && $file->{left} < FILE_BYTES ? $file->{left} : FILE_BYTES;
        my $piece;
        my $read =
            !$size || $self->{is_bodyless} ? 0
          : $file->{is_memory}             ? read( $file->{handle}, $piece, $size )
          :                                  sysread( $file->{handle}, $piece, $size );
        defined $read or return $file->{sent}->fail("PAGI: reading a file: $!\n");
        my $output = defined $self->{head} ? $self->flush_head( $file->{left} ) : '';
        if ($output) { $self->{stream}->write($output) }
        $file->{left} -= $read if defined $file->{left};
        my $more = $read && ( !defined $file->{left} || $file->{left} ) ? 1 : 0;
        eval { $self->piece( $read ? $piece : '', $more ); 1 } or return $file->{sent}->fail($@);
        last if !$more;
        my $drain = $self->drain;
        next if $drain->is_ready;
        return $drain->on_done( sub { $self->pump($file) } );
    }
    $file->{sent}->done if !$file->{sent}->is_ready;
    return;
}

sub trailers ( $self, $event ) {
    my @headers = Cameleer::Event::PAGI::Check::headers($event);
    $self->{is_started} && ( $self->{has_trailers} || $self->{is_bodyless} )
      or Cameleer::Event::PAGI::Check::refused( $event, 'the response has started without trailers' );
    return if $self->{is_complete} || $self->{is_bodyless};
    my $output = $self->flush_head;
    $self->{stream}->write( join '', $output, "0\r\n", ( map {"$_->[0]: $_->[1]\r\n"} @headers ), "\r\n" );
    $self->complete;
    return;
}

# The response is over. The state says so when the last byte is written.
sub complete ($self) {
    return if $self->{is_complete}++;
    if ( my $left = $self->{left} ) {
        $self->report("the response ended $left bytes before its content-length");
        return $self->break('server_error');
    }
    $self->{state}{complete} = 1 if $self->{state};
    $self->{stream}->flushed( sub { $self->finish } );
    return;
}

sub finish ($self) {
    $self->over or return;
    $self->{state}->finish if $self->{state};
    $self->deliver_last( $self->disconnect_event('') );
    my $stream = delete $self->{stream};
    $stream->next($self);
    return;
}

sub disconnect_event ( $self, $reason ) { return { type => 'http.disconnect' } }

# Ends the exchange before the response is complete.
sub break ( $self, $reason ) {
    my $stream = $self->{stream};
    $self->lost($reason);
    $stream->close if $stream;
    return;
}

sub lost ( $self, $reason ) {
    $self->over or return;
    delete $self->{stream};
    $self->{state}->disconnect($reason) if $self->{state};
    $self->deliver_last( $self->disconnect_event($reason) );
    return;
}

# The server stops, and its time is over.
sub leave ($self) { return $self->break('server_shutdown') }

sub returned ($self) {
    return if $self->{is_over} || $self->{is_complete};
    return $self->failed("the application returned without starting a response\n") if !$self->{is_started};
    $self->report('the application returned before its response was complete');
    return $self->break('server_error');
}

sub failed ( $self, $error ) {
    $self->report($error);
    return if $self->{is_over} || $self->{is_complete};
    # A head that has not left is replaced.
    if ( !$self->{is_started} || defined $self->{head} ) {
        delete $self->{head};
        $self->{is_complete} = 1;
        $self->{state}{started} = 1 if $self->{state};
        $self->plain( Cameleer::Event::Status::of_error($error) );
        my $stream = $self->{stream};
        $self->{state}->disconnect('server_error') if $self->{state};
        return $stream->flushed( sub { $self->finish } );
    }
    return $self->break('server_error');
}

1;
