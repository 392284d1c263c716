package Cameleer::Event::Stream;

use v5.36;
use Errno ();

# One connection of the front: requests of HTTP/1.1 one after the other, each of which is an exchange with the
# application. All input and output of the descriptor is here.

use constant { READ_BYTES => 65_536, MAX_HEAD_BYTES => 1 << 20 };

# Bytes of output that wait for the front. At the high mark an application should wait until the low one.
use constant { HIGH => 65_536, LOW => 16_384 };

# All streams read into this one, so that an idle stream has no buffer.
my $READ = '';

sub new ( $class, $server, $handle ) {
    my $self = bless { server => $server, handle => $handle, in => '', out => '' }, $class;
    $server->{loop}->watch_io( handle => $handle, on_read_ready => sub { $self->readable } );
    return $self;
}

sub readable ($self) {
    my $read = sysread $self->{handle}, $READ, READ_BYTES;
    if ( !defined $read ) {
        return if $!{EAGAIN} || $!{EINTR};
        return $self->lost('read_error');
    }
    return $self->lost('client_closed') if !$read;
    $self->{in} .= $READ;
    return $self->advance;
}

# Passes on what has arrived, as far as someone takes it.
sub advance ($self) {
    while ( length $self->{in} && !$self->{is_closed} ) {
        my $exchange = $self->{exchange};
        my $moved =
            !$exchange           ? $self->begin
          : $exchange->{is_raw}  ? $exchange->raw( \$self->{in} )
          : $self->{body}        ? $self->body($exchange)
          :                        0;
        last unless $moved;
    }
    undef $self->{in} if !length $self->{in};
    $self->{in} //= '';
    return;
}

sub begin ($self) {
    my $end = index $self->{in}, "\r\n\r\n";
    if ( $end < 0 ) {
        $self->lost('protocol_error') if length $self->{in} > MAX_HEAD_BYTES;
        return 0;
    }
    my $head = substr $self->{in}, 0, $end;
    substr( $self->{in}, 0, $end + 4 ) = '';
    my ( $method, $target, $fields ) = head($head) or return $self->lost('protocol_error');
    my %framing = map {@$_} grep { $_->[0] eq 'content-length' || $_->[0] eq 'transfer-encoding' } @$fields;
    my $length  = $framing{'content-length'} // 0;
    $length =~ /\A[0-9]{1,18}\z/ or return $self->lost('protocol_error');
    $self->{body} =
        lc( $framing{'transfer-encoding'} // '' ) eq 'chunked' ? { is_chunked => 1, left => 0 }
      : $length                                                ? { left => $length }
      :                                                          undef;
    $self->{server}->exchange( $self, $method, $target, $fields );
    return 1;
}

# The method, the target, and the fields as pairs; nothing if this is no head.
sub head ($text) {
    my ( $first, @lines ) = split /\r\n/, $text;
    my ( $method, $target ) = ( $first // '' ) =~ m{\A([^ ]+) ([^ ]+) HTTP/1\.[01]\z} or return;
    my @fields;
    for my $line (@lines) {
        # The front writes names in lower case, and no blanks around values but one.
        my ( $name, $value ) = $line =~ /\A([^:\s]+): ?(.*)\z/s or return;
        push @fields, [ lc $name, $value ];
    }
    return ( $method, $target, \@fields );
}

# A part of the request's body. Nothing is taken while the application is behind.
sub body ( $self, $exchange ) {
    my $body = $self->{body};
    return 0 if $exchange->is_full;
    if ( $body->{is_chunked} && !$body->{left} ) {
        $self->{in} =~ /\A((?:\r\n)?([0-9A-Fa-f]{1,15})[^\n]*\n)/ or return length $self->{in} > 4096 ? $self->lost('protocol_error') : 0;
        my ( $line, $size ) = ( $1, hex $2 );
        if ( !$size ) {
            # The trailers end with an empty line.
            my $end = index $self->{in}, "\r\n\r\n", length($line) - 2;
            return length $self->{in} > MAX_HEAD_BYTES ? $self->lost('protocol_error') : 0 if $end < 0;
            substr( $self->{in}, 0, $end + 4 ) = '';
            delete $self->{body};
            $exchange->body( '', 0 );
            return 1;
        }
        substr( $self->{in}, 0, length $line ) = '';
        $body->{left} = $size;
        return 1;
    }
    my $piece = substr $self->{in}, 0, $body->{left}, '';
    $body->{left} -= length $piece;
    my $more = $body->{is_chunked} || $body->{left} ? 1 : 0;
    delete $self->{body} if !$more;
    $exchange->body( $piece, $more );
    return 1;
}

# Stops reading, and begins again: the front stops reading from its client as well.
sub pause ( $self, $is_paused ) {
    return if $self->{is_closed} || ( $self->{is_paused} // 0 ) == $is_paused;
    $self->{is_paused} = $is_paused;
    my $loop = $self->{server}{loop};
    if ($is_paused) { $loop->unwatch_io( handle => $self->{handle}, on_read_ready => 1 ) }
    else            { $loop->watch_io( handle => $self->{handle}, on_read_ready => sub { $self->readable } ) }
    return;
}

# Writes what the kernel takes, and the rest later.
sub write ( $self, $bytes ) {
    return if $self->{is_closed} || $bytes eq '';
    if ( $self->{out} eq '' ) {
        my $written = syswrite $self->{handle}, $bytes;
        if ( defined $written ) {
            return if $written == length $bytes;
            substr( $bytes, 0, $written ) = '';
        }
        elsif ( !$!{EAGAIN} && !$!{EINTR} ) {
            return $self->lost('write_error');
        }
        $self->{server}{loop}->watch_io( handle => $self->{handle}, on_write_ready => sub { $self->writable } );
    }
    $self->{out} .= $bytes;
    $self->{transport}->changed( length $self->{out} ) if $self->{transport};
    return;
}

sub writable ($self) {
    my $written = syswrite $self->{handle}, $self->{out};
    if ( !defined $written ) {
        return if $!{EAGAIN} || $!{EINTR};
        return $self->lost('write_error');
    }
    substr( $self->{out}, 0, $written ) = '';
    if ( $self->{out} eq '' ) {
        undef $self->{out};
        $self->{out} = '';
        $self->{server}{loop}->unwatch_io( handle => $self->{handle}, on_write_ready => 1 );
    }
    $self->drained;
    return;
}

sub waiting ($self) { return length $self->{out} }

# Calls what waits for the low mark, and what waits until all is written.
sub drained ($self) {
    my $waiting = length $self->{out};
    $self->{transport}->changed($waiting) if $self->{transport};
    if ( $waiting < LOW && $self->{drains} ) {
        $_->() for @{ delete $self->{drains} };
    }
    return if length $self->{out};
    if ( my $then = delete $self->{then} ) { $then->() }
    return;
}

# Whether no more should be written now.
sub is_high ($self) { return !$self->{is_closed} && length $self->{out} >= HIGH }

# Calls back at the low mark, or when the stream is closed before.
sub on_low ( $self, $then ) {
    push @{ $self->{drains} }, $then;
    return;
}

# Calls back when all output is written.
sub flushed ( $self, $then ) {
    return $then->() if $self->{out} eq '' || $self->{is_closed};
    $self->{then} = $then;
    return;
}

# The exchange is over: the next request may come. A body that the application has not read is discarded before.
sub next ( $self, $exchange ) {
    return if $self->{is_closed} || ( $self->{exchange} // 0 ) != $exchange;
    delete $self->{transport};
    if ( $self->{body} ) {
        $self->{exchange} = bless { stream => $self }, 'Cameleer::Event::Discard';
    }
    else {
        delete $self->{exchange};
        return $self->close if $self->{closes} || $self->{server}{is_late};
    }
    $self->pause(0);
    $self->advance if length $self->{in};
    return;
}

# The front has closed the stream, or has violated the protocol.
sub lost ( $self, $reason ) {
    return 0 if $self->{is_closed};
    my $exchange = $self->{exchange};
    $self->close;
    $exchange->lost($reason) if $exchange;
    return 0;
}

sub close ($self) {
    return if $self->{is_closed}++;
    my $loop = $self->{server}{loop};
    $loop->unwatch_io( handle => $self->{handle}, on_read_ready => 1, on_write_ready => 1 );
    delete $self->{exchange};
    delete @$self{qw(in body transport)};
    $self->{out} = '';
    close delete $self->{handle};
    $_->() for @{ delete $self->{drains} // [] };
    delete $self->{then};
    $self->{server}->gone($self);
    return;
}

package Cameleer::Event::Discard;

# Reads the rest of a body that nobody wants.

sub is_full ($self)         { return 0 }
sub lost    ( $self, $why ) { return }
sub leave   ($self)         { return }

sub body ( $self, $piece, $more ) {
    $self->{stream}->next($self) if !$more;
    return;
}

1;
