package Cameleer::Event::AnyEvent;

use v5.36;

use AnyEvent ();

# AnyEvent with the methods of IO::Async::Loop that the server uses, for programs that have loaded AnyEvent alone.

sub new ($class) { return bless { watched => {}, timers => {}, last_timer => 0 }, $class }

sub watch_io ( $self, %watch ) {
    my $number = fileno $watch{handle};
    for my $direction (qw(read write)) {
        my $call = $watch{"on_${direction}_ready"} or next;
        $self->{watched}{$direction}{$number} = AE::io( $watch{handle}, $direction eq 'write', $call );
    }
    return;
}

sub unwatch_io ( $self, %watch ) {
    my $number = fileno $watch{handle};
    for my $direction (qw(read write)) {
        delete $self->{watched}{$direction}{$number} if $watch{"on_${direction}_ready"};
    }
    return;
}

# `after` is in seconds. Returns what unwatch_time takes.
sub watch_time ( $self, %watch ) {
    my $id = ++$self->{last_timer};
    $self->{timers}{$id} = AE::timer(
        $watch{after},
        0,
        sub {
            delete $self->{timers}{$id};
            $watch{code}->();
        }
    );
    return $id;
}

sub unwatch_time ( $self, $id ) {
    delete $self->{timers}{$id};
    return;
}

sub later ( $self, $code ) {
    AnyEvent::postpone { $code->() };
    return;
}

sub run ($self) {
    $self->{end} = AE::cv();
    $self->{end}->recv;
    return;
}

sub stop ($self) {
    $self->{end}->send if $self->{end};
    return;
}

1;

__END__

=head1 NAME

Cameleer::Event::AnyEvent - AnyEvent's loop for the workers of an event pool

=head1 DESCRIPTION

Has C<watch_io>, C<unwatch_io>, C<watch_time>, C<unwatch_time>, C<later>, C<run> and C<stop> as
L<IO::Async::Loop> does, so that L<Cameleer::Event::PSGI> needs one interface.

=cut
