package Cameleer::Event::PSGI;

use v5.36;
use parent 'Cameleer::Event::Server';
use Scalar::Util ();

use Cameleer::Event::PSGI::Environment;
use Cameleer::Event::PSGI::Exchange;
use Cameleer::Event::PSGI::Response;
use Cameleer::Event::PSGI::Socket;
use Cameleer::Event::PSGI::Writer;

# How often sockets of applications are looked at, in seconds.
use constant LOOK_SECONDS => 1;

# Whether a value is a PSGI application. The loop is that of the program; one without a loop gets AnyEvent.
sub accepts ( $class, $value ) {
    return 0 unless ref $value && ( eval { defined \&$value } || Scalar::Util::blessed($value) && $value->can('to_app') );
    return 1 if $INC{'IO/Async/Loop.pm'};
    return 1 if eval { require Cameleer::Event::AnyEvent } || eval { require IO::Async::Loop };
    die "PsgiMode event needs an event loop: install AnyEvent or IO::Async, or write PsgiMode blocking\n";
}

sub application ( $class, $value ) {
    return eval { defined \&$value } ? $value : $value->to_app;
}

sub loop ($class) {
    return IO::Async::Loop->new if $INC{'IO/Async/Loop.pm'};
    require Cameleer::Event::AnyEvent;
    return Cameleer::Event::AnyEvent->new;
}

sub new ( $class, @arguments ) {
    my $self = $class->SUPER::new(@arguments);
    $self->{environment} = {%ENV};
    return $self;
}

sub exchange ( $self, $stream, @head ) {
    my $exchange = $stream->{exchange} = Cameleer::Event::PSGI::Exchange->new( $stream, @head );
    # The body is collected before the application runs.
    $exchange->answer if !$stream->{body};
    return;
}

# Calls the application, or the callback of a delayed response. What it changes in %ENV and in variables of input and output ends with the call: while its
# request waits, the worker has others.
sub call ( $self, $env, $code = $self->{app} ) {
    $self->restore_environment;
    my $response;
    Cameleer::Event::begins( @$env{qw(REQUEST_METHOD SERVER_NAME REMOTE_ADDR REQUEST_URI)} );
    my $is_done = do {
        local ( $/, $\, $, ) = ("\n");    ## no critic: each request begins with Perl's own values
        local $_;
        eval { $response = $code->($env); 1 };
    };
    my $error = $@;
    Cameleer::Event::ends();
    $self->restore_environment;
    die $error if !$is_done;
    return $response;
}

# Callbacks may have changed %ENV as well.
sub restore_environment ($self) {
    my $start = $self->{environment};
    if ( keys %ENV == keys %$start ) {
        my $is_same = 1;
        for my $name ( keys %$start ) {
            next if exists $ENV{$name} && $ENV{$name} eq $start->{$name};
            $is_same = 0;
            last;
        }
        return if $is_same;
    }
    %ENV = %$start;    ## no critic: programs that the application starts get it
    return;
}

# Looks from time to time at the sockets that applications have, as long as there are any.
sub watch_socket ( $self, $exchange ) {
    my $sockets = $self->{sockets} //= {};
    $sockets->{ Scalar::Util::refaddr($exchange) } = $exchange;
    $self->look if !$self->{is_looking}++;
    return;
}

sub forget_socket ( $self, $exchange ) {
    delete $self->{sockets}{ Scalar::Util::refaddr($exchange) };
    return;
}

sub look ($self) {
    return $self->{is_looking} = 0 if !%{ $self->{sockets} };
    $self->{loop}->watch_time(
        after => LOOK_SECONDS,
        code  => sub {
            $_->look_at_socket for values %{ $self->{sockets} };
            $self->look;
        }
    );
    return;
}

1;

__END__

=head1 NAME

Cameleer::Event::PSGI - PSGI applications of event loops in the workers of an event pool

=head1 DESCRIPTION

Serves PSGI 1.1 with C<psgi.nonblocking>, C<psgi.streaming>, C<psgix.io>, C<psgix.input.buffered>
and C<psgix.cleanup>. The loop is that which the program has loaded: L<IO::Async::Loop>, else
L<AnyEvent>. A program without a loop gets AnyEvent.

=head2 Delayed responses

The responder may be called at any time. A request whose responder is lost without a call gets 500;
one whose writer is lost without C<close> ends before its body is complete. After the client has
left, a call of the responder does nothing.

C<< $writer->write >> returns false when the client has left, or wants no body (HEAD). It never
waits: what the client has not taken is stored, up to 64 MiB; beyond that the response is broken off.
C<< $writer->poll_cb($callback) >> calls back with the writer when more should be written, again after
each C<write>, until C<close> or C<< $writer->poll_cb(undef) >>.

=head2 Bodies with getline

They are read as fast as the client takes them. One that waits in C<getline> stops all requests of
its worker: use a writer.

=head2 psgix.io

It is there for requests with C<Upgrade>, except C<h2c>. An application that takes the socket, as
L<AnyEvent::Handle> does, writes the head of the response itself. After a status of 101 the front
passes bytes in both directions, without TLS, until the application closes the socket. The
responder then can only refuse the connection; a status below 300 does nothing. A socket that
was closed without a response is a 502.

After a response of PSGI the socket is shut down.

=head2 Between requests

The worker has many requests at a time, so that global variables are common to all. C<%ENV> and
the variables C<$/>, C<$\> and C<$,> are restored after each call of the application, but not after
callbacks. Output to STDOUT goes to the error log.

A responder, a writer, C<psgi.input> and C<psgix.io> that were stored beyond their request have no
effect on others.

=cut
