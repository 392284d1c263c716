package Cameleer::Event::PAGI::State;

use v5.36;

# What applications see of a request's progress: `pagi.connection`. Its way leads from open to either disconnected or
# complete, once.

sub new ($class) { return bless { open => 1 }, $class }

sub is_connected      ($self) { return $self->{open}     ? 1 : 0 }
sub response_started  ($self) { return $self->{started}  ? 1 : 0 }
sub response_complete ($self) { return $self->{complete} ? 1 : 0 }
sub disconnect_reason ($self) { return $self->{reason} }

sub on_disconnect ( $self, $callback ) {
    return called( 'on_disconnect', [$callback], $self->{reason} ) if defined $self->{reason};
    push @{ $self->{on_disconnect} }, $callback if $self->{open};
    return;
}

sub on_complete ( $self, $callback ) {
    return called( 'on_complete', [$callback] ) if !$self->{open} && !defined $self->{reason};
    push @{ $self->{on_complete} }, $callback if $self->{open};
    return;
}

sub disconnect_future ($self) {
    return $self->{future} //= do {
        my $future = Future->new;
        $future->done( $self->{reason} ) if defined $self->{reason};
        $future;
    };
}

# The order of these steps is the specification's.
sub disconnect ( $self, $reason ) {
    return unless $self->{open};
    $self->{open}   = 0;
    $self->{reason} = $reason;
    $self->{future}->done($reason) if $self->{future} && !$self->{future}->is_ready;
    delete $self->{on_complete};
    return called( 'on_disconnect', delete $self->{on_disconnect}, $reason );
}

sub finish ($self) {
    return unless $self->{open};
    $self->{open} = 0;
    delete $self->{on_disconnect};
    return called( 'on_complete', delete $self->{on_complete} );
}

sub called ( $name, $callbacks, @arguments ) {
    for my $callback (@$callbacks) {
        eval { $callback->(@arguments); 1 } or warn "PAGI: a callback of $name died: $@";
    }
    return;
}

1;
