package Cameleer::Event::PSGI::Writer;

use v5.36;

# What a responder returns for a response without a body. Without an exchange, no client is there.

sub new ( $class, $exchange ) { return bless { exchange => $exchange }, $class }

# Output that waits for a slow client is in memory.
use constant MAX_WAITING_BYTES => 64 << 20;

# False if the client has left, or wants no body.
sub write ( $self, $bytes ) {
    die "PSGI: write after close\n" if $self->{is_closed};
    return '' if $self->is_gone;
    my $exchange = $self->{exchange};
    $exchange->send_piece( Cameleer::Event::PSGI::Response::bytes($bytes) );
    $exchange->failed( 'the client is too slow: ' . MAX_WAITING_BYTES . " bytes wait for it; write with poll_cb\n" ) if $exchange->is_behind(MAX_WAITING_BYTES);
    $self->watch if $self->{poll};
    return !$exchange->is_over && !$exchange->{is_bodyless};
}

sub is_gone ($self) { return !$self->{exchange} || $self->{exchange}->is_over }

sub close ($self) {
    return if $self->{is_closed}++ || $self->is_gone;
    $self->poll_cb(undef);
    $self->{exchange}->complete;
    return;
}

# Calls back when more should be written: soon, and after each write when the client has taken it.
sub poll_cb ( $self, $callback ) {
    my $exchange = $self->{exchange} or return;
    if ( $callback && !$self->{is_closed} && !$exchange->is_over ) {
        $self->{poll} = $callback;
        # Until then the server has the writer, although the application may have no other reference.
        $exchange->{polled} = $self;
        return $self->watch;
    }
    delete $self->{poll};
    delete $exchange->{polled};
    return;
}

sub watch ($self) {
    return if $self->is_gone || $self->{is_watched}++;
    my $stream = $self->{exchange}{stream};
    my $then   = sub {
        $self->{is_watched} = 0;
        $self->ready;
    };
    $stream->is_high ? $stream->on_low($then) : $stream->{server}->later($then);
    return;
}

sub ready ($self) {
    my $callback = $self->{poll} or return;
    return if $self->is_gone;
    eval { $callback->($self); 1 } or $self->{exchange}->failed($@);
    return;
}

sub DESTROY ($self) {
    return if $self->{is_closed} || ${^GLOBAL_PHASE} eq 'DESTRUCT' || $self->is_gone;
    local ( $@, $!, $? );
    $self->{exchange}->failed("the application has lost its writer without close\n");
    return;
}

1;
