package Cameleer::Event::PAGI::Lifespan;

use v5.36;
use parent 'Cameleer::Event::PAGI::Exchange';
use Cameleer::Event::PAGI::Scope ();

# The call of the application that lasts as long as the worker: the scope `lifespan`. An application that does not know
# it is served without.

my %EVENTS = (
    'lifespan.startup.complete'  => 'startup_complete',
    'lifespan.startup.failed'    => 'startup_failed',
    'lifespan.shutdown.complete' => 'shutdown_complete',
    'lifespan.shutdown.failed'   => 'shutdown_failed',
);

sub events ($self) { return \%EVENTS }

sub new ( $class, $state, $conf ) {
    my $self = Cameleer::Event::PAGI::Exchange::new( $class, undef, undef );
    $self->{scope} = {
        type  => 'lifespan',
        pagi  => { version => Cameleer::Event::PAGI::Scope::VERSION, spec_version => Cameleer::Event::PAGI::Scope::VERSION, is_worker => 1 },
        state => $state,
    };
    $self->{scope}{pagi}{worker_num} = 1 + $conf->{slot} if defined $conf->{slot};
    return $self;
}

sub start ( $self, $app ) {
    $self->deliver( { type => 'lifespan.startup' } );
    return $self->call( $app, $self->{scope} );
}

# The application has answered the start, or does not know the scope.
sub is_started ($self) { return $self->{is_started} || $self->{is_over} }
sub is_stopped ($self) { return $self->{is_over} }

sub stop ($self) {
    $self->deliver( { type => 'lifespan.shutdown' } ) if !$self->{is_over};
    return;
}

sub startup_complete ( $self, $event ) { $self->{is_started} = 1; return }

sub startup_failed ( $self, $event ) {
    $self->{has_refused} = 1;
    return $self->end( 'the application could not start', $event );
}

sub shutdown_complete ( $self, $event ) { $self->over; return }
sub shutdown_failed   ( $self, $event ) { return $self->end( 'the application could not clean up', $event ) }

sub end ( $self, $what, $event ) {
    my $message = Cameleer::Event::PAGI::Check::text( $event, 'message', '' );
    $self->report( $what . ( $message eq '' ? '' : ": $message" ) );
    $self->over;
    return;
}

sub returned ($self) { $self->over; return }

# Before the start is complete an exception means that the application has no such scope. One that does not name the scope
# may be a defect, so that the log has it.
sub failed ( $self, $error ) {
    my $is_expected = !$self->{is_started} && $error =~ /lifespan|scope|support/i;
    $self->report("lifespan: $error") if !$is_expected && !$self->{is_over};
    $self->over;
    return;
}

1;
