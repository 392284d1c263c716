package Cameleer::Event::PAGI;

use v5.36;
use parent 'Cameleer::Event::Server';
use Scalar::Util ();

use Cameleer::Event::PAGI::Check;
use Cameleer::Event::PAGI::State;
use Cameleer::Event::PAGI::Transport;
use Cameleer::Event::PAGI::Scope;
use Cameleer::Event::PAGI::Exchange;
use Cameleer::Event::PAGI::Http;
use Cameleer::Event::PAGI::Sse;
use Cameleer::Event::PAGI::WebSocket;
use Cameleer::Event::PAGI::Lifespan;

# How long an application may take for `lifespan.shutdown` where GracefulShutdownTimeout sets no limit, in seconds.
use constant SHUTDOWN_SECONDS => 30;

my %KINDS = map { lc s/.*:://r => $_ } map { __PACKAGE__ . "::$_" } qw(Http Sse WebSocket);

# Whether a value is an application of PAGI: a sub of a file that uses Future::AsyncAwait, or an object of PAGI's classes.
sub accepts ( $class, $value ) {
    return 0 if !ref $value;
    my $is_application = Scalar::Util::blessed($value) && $value->can('to_app') ? ref($value) =~ /\APAGI::/ : eval { defined \&$value };
    return 0 if !$is_application || !$INC{'Future/AsyncAwait.pm'};
    require Future;
    eval { require IO::Async::Loop; 1 } or die "PAGI: an application needs IO::Async, of Debian's libio-async-perl: $@";
    return 1;
}

# A future that is ready. Nothing can be added to it, so that all share one.
sub done { return state $done = Future->done }

sub application ( $class, $value ) {
    return Scalar::Util::blessed($value) && $value->can('to_app') ? $value->to_app : $value;
}

sub loop ($class) {
    require Future;
    require IO::Async::Loop;
    my $loop = IO::Async::Loop->new;
    eval { require Future::IO; require Future::IO::Impl::IOAsync; 1 };
    return $loop;
}

# Begins the application's lifespan. False if the application refuses to start.
sub start ($self) {
    my $lifespan = Cameleer::Event::PAGI::Lifespan->new( $self->{state} = {}, $self->{conf} );
    $self->{lifespan} = $lifespan;
    $lifespan->start( $self->{app} );
    my $limit = ( $self->{conf}{start} // 0 ) / 2;
    my $late  = $limit > 0 && $self->{loop}->watch_time(
        after => $limit,
        code  => sub {
            warn "PAGI: the application has not sent lifespan.startup.complete within $limit s, half of StartTimeout; its worker takes no requests\n";
        }
    );
    $self->turn_once while !$lifespan->is_started && !$self->{is_over};
    $self->{loop}->unwatch_time($late) if $late;
    return !$lifespan->{has_refused};
}

# Waits for one event. An exception of a callback does not end the lifespan.
sub turn_once ($self) {
    eval { $self->{loop}->loop_once; 1 } or $self->failed($@);
    return;
}

# Ends the lifespan, within the time of a graceful stop.
sub stop ($self) {
    my $lifespan = $self->{lifespan};
    my $is_late  = 0;
    my $timer    = $self->{loop}->watch_time( after => $self->{conf}{graceful} || SHUTDOWN_SECONDS, code => sub { $is_late = 1 } );
    $lifespan->stop;
    $self->turn_once while !$lifespan->is_stopped && !$is_late;
    warn "PAGI: the application has not sent lifespan.shutdown.complete in time\n" if $is_late;
    $self->{loop}->unwatch_time($timer) if !$is_late;
    return;
}

# A request: the application is called.
sub exchange ( $self, $stream, @head ) {
    my ($scope) = Cameleer::Event::PAGI::Scope::of(@head);
    my ($host)  = map { $_->[1] =~ s/:[0-9]+\z//r } grep { $_->[0] eq 'host' } @{ $scope->{headers} };
    my $kind = $KINDS{ $scope->{type} };
    $scope->{state} = { %{ $self->{state} } };
    $scope->{'pagi.transport'} = $stream->{transport} = Cameleer::Event::PAGI::Transport->new($stream);
    my $exchange = $kind->new( $stream, $scope );
    $stream->{exchange} = $exchange;
    Cameleer::Event::begins( $head[0], $host, $scope->{client} && $scope->{client}[0], $head[1] );
    $exchange->call( $self->{app}, $scope );
    Cameleer::Event::ends();
    return;
}

1;

__END__

=head1 NAME

Cameleer::Event::PAGI - applications of PAGI in the workers of an event pool

=head1 DESCRIPTION

Serves PAGI 0.3: the scopes C<http>, C<sse>, C<websocket> and C<lifespan>, C<pagi.connection>, C<pagi.transport>, and the
extensions C<fullflush>, C<tls> and C<websocket.http.response>. Requests of C<PerlWarmup> have the extension
C<cameleer.warm_up>. The event loop is L<IO::Async::Loop>, which L<Future::IO>
uses as well.

=head2 The value of the file

A code reference, if the file uses L<Future::AsyncAwait>, or an object of a class C<PAGI::*> that has the method C<to_app>.

=head2 Events out of order

C<$send> fails for C<http.response.body> before C<http.response.start>, and for a second start. It does nothing after the
end of the response.

=cut
