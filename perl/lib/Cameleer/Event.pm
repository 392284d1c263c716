package Cameleer::Event;

use v5.36;
use Cameleer::XS ();

use Cameleer::PSGI ();

Cameleer::XS::load(__PACKAGE__);

# The XS functions of the server are descriptor, _orders, ready, begins, ends and tick.

# Asked in this order whether they serve the value of an application's file.
our @CLASSES = qw(Cameleer::Event::Mojo Cameleer::Event::PAGI Cameleer::Event::PSGI);

# The application of this pool: its class, its value and its source.
my ( $class, $app, $source );

# Called in the mold of an event pool, before the first application.
sub begin () {
    $Cameleer::PSGI::loader = __PACKAGE__;
    return;
}

sub load_file ( $self, $file ) {
    local @ENV{qw(MOJO_APP_LOADER MOJO_EXE)} = ( 1, $file );
    return $self->accept( Cameleer::PSGI::evaluate_file($file), $file );
}

sub load_code ( $self, $code ) {
    local $ENV{MOJO_APP_LOADER} = 1;
    return $self->accept( Cameleer::PSGI::evaluate_code($code), '-e' );
}

sub accept ( $self, $value, $from ) {
    die $@ if $@;
    die "$from: $!\n" unless defined $value || !$!;
    if ( defined $source && $source ne $from ) {
        die "$from: an event pool has one application, and this one has $source; give each a <WorkerPool> of its own\n";
    }
    for my $candidate (@CLASSES) {
        my $file = $candidate =~ s{::}{/}gr . '.pm';
        next unless eval { require $file } && $candidate->accepts($value);
        ( $class, $app, $source ) = ( $candidate, $value, $from );
        return $value;
    }
    die "$from: its last value is no application of Mojolicious, PAGI or PSGI\n";
}

sub orders () {
    my ( $leave, $messages, @streams ) = _orders();
    Cameleer::Broadcast::deliver($messages) if @$messages;
    return ( $leave, @streams );
}

# Called in the mold for each request of PerlWarmup, which each worker answers: scheme, host and port, address and port of
# the server, path of the application or `-`, target, place in the
# configuration.
my @warm_up;

sub warm_up ($words) {
    push @warm_up, [ split / /, $words, 7 ];
    return;
}

# The process whose `exit` ends no process. A child that it forks ends with its own.
our $worker = 0;

# Before code of the application is compiled: in pools that block, `exit` ends the request.
BEGIN {
    my $earlier = defined &CORE::GLOBAL::exit ? \&CORE::GLOBAL::exit : undef;
    no warnings qw(once redefine);
    *CORE::GLOBAL::exit = sub : prototype(;$) ( $code = 0 ) {
        if ( $$ == ( $worker // 0 ) ) {
            my ( undef, $file, $line ) = caller;
            die "exit($code) ends only the request in a pool with an event loop at $file line $line.\n";
        }
        return $earlier ? $earlier->($code) : CORE::exit($code);
    };
}

# Called in the worker: runs the loop until the worker must leave.
sub run ($words) {
    my ( $slot, $graceful, $start ) = split / /, $words;
    die "PsgiMode event: the pool has no PsgiApp\n" unless $class;
    delete $ENV{MOJO_APP_LOADER};
    local $worker = $$;
    $class->run( $app, { slot => $slot, graceful => $graceful, start => $start, warm_up => \@warm_up } );
    return;
}

1;

__END__

=head1 NAME

Cameleer::Event - workers that run an event loop (PsgiMode event)

=head1 DESCRIPTION

The server loads this module in the pools with C<PsgiMode event>. It finds the class that serves the
application:

    Class->accepts($value)         # before the fork: whether it serves the value of the application's file
    Class->run($value, \%settings) # in a worker: runs the loop, and returns when the worker is to end

C<%settings> has C<slot>, the number of the worker, C<graceful>, C<GracefulShutdownTimeout> in
seconds (0 is unlimited), C<start>, C<StartTimeout> in seconds, and C<warm_up>, the requests for
L<Cameleer::Event::WarmUp>.

C<exit> in code that was compiled after this module dies in a worker: it ends its request, as in pools
that block.

=head2 Functions for the classes

=over

=item Cameleer::Event::descriptor()

The number of the descriptor that the loop watches, and never reads.

=item Cameleer::Event::orders()

To be called when the descriptor is readable, also after the order to leave. Calls the subscribers of
L<Cameleer::Broadcast>. Returns whether the worker must leave, and the numbers of the descriptors of
new streams, which belong to the caller. The first value is a sum: 1 if the worker must leave, 2 if
the descriptor must not be watched any more, 4 if WebSockets must be closed now, because the server
stops. A stream is a non-blocking socket on
which the worker is an HTTP/1.1 server.

=item Cameleer::Event::ready()

To be called once, when the loop can take streams.

=item Cameleer::Event::begins($method, $host, $client, $target, $is_more)

The loop calls the application for a request, or, if the last argument is true, for more of a request
that has begun before, such as a message of a WebSocket. C<SlowLog> and C<cameleer profile> see the call until
C<Cameleer::Event::ends()>.

=item Cameleer::Event::tick()

To be called every second. Checks C<MaxMemoryPerChild> and C<MemoryBudget>; a worker that exceeds
them gets the order to leave.

=back

=head2 Fields

Each request on a stream has fields about the client's connection, which clients cannot set:
C<Cameleer-Client> and C<Cameleer-Server> (address and port), C<Cameleer-Scheme>,
C<Cameleer-Protocol>, C<Cameleer-Request-Id>, C<Cameleer-User> after authentication, and
C<Cameleer-Script-Name> for an application that is not at C</>.

=cut
