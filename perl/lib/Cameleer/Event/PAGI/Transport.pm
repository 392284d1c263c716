package Cameleer::Event::PAGI::Transport;

use v5.36;
use Scalar::Util ();

use Cameleer::Event::Stream ();

# How much of the output waits for the client: `pagi.transport`. At the high mark `$send` waits until the low one.

use constant { HIGH => Cameleer::Event::Stream::HIGH, LOW => Cameleer::Event::Stream::LOW };

sub new ( $class, $stream ) {
    my $self = bless { stream => $stream }, $class;
    Scalar::Util::weaken( $self->{stream} );
    return $self;
}

sub buffered_amount ($self) { return $self->{stream} ? $self->{stream}->waiting : 0 }
sub high_water_mark ($self) { return HIGH }
sub low_water_mark  ($self) { return LOW }

sub on_high_water ( $self, $callback ) {
    push @{ $self->{on_high_water} }, $callback;
    if ( $self->buffered_amount >= HIGH ) {
        $self->{is_high} = 1;
        Cameleer::Event::PAGI::State::called( 'on_high_water', [$callback] );
    }
    return;
}

sub on_drain ( $self, $callback ) {
    push @{ $self->{on_drain} }, $callback;
    return;
}

# The stream calls this after each change of its output, if the application has asked for callbacks.
sub changed ( $self, $waiting ) {
    if ( !$self->{is_high} && $waiting >= HIGH ) {
        $self->{is_high} = 1;
        Cameleer::Event::PAGI::State::called( 'on_high_water', $self->{on_high_water} );
    }
    elsif ( $self->{is_high} && $waiting < LOW ) {
        $self->{is_high} = 0;
        Cameleer::Event::PAGI::State::called( 'on_drain', $self->{on_drain} );
    }
    return;
}

1;
