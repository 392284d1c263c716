package Cameleer::Broadcast;

use v5.36;
use Carp ();

use Cameleer::XS ();

Cameleer::XS::load(__PACKAGE__);

# The subscriptions of this process: subs by their numbers, by channel.
my ( %subscribers, $last );

sub subscribe ( $class, $channel, $call ) {
    Carp::croak('Cameleer::Broadcast->subscribe: expected a channel and a sub') if ref $call ne 'CODE';
    utf8::downgrade( $channel, 1 ) or Carp::croak('Cameleer::Broadcast: the name of a channel has wide characters: encode it first');
    my $all    = $subscribers{$channel} // {};
    my $reason = _subscribed( $channel, 1 + keys %$all );
    Carp::croak("Cameleer::Broadcast->subscribe: $reason") if defined $reason;
    my $number = ++$last;
    $all->{$number} = $call;
    $subscribers{$channel} = $all;
    return bless { channel => $channel, number => $number }, 'Cameleer::Broadcast::Subscription';
}

sub publish ( $class, $channel, $message ) {
    local $@;
    my $reason = eval { _publish( $channel, $message ) } // $@ =~ s/ at \S+ line [0-9]+\.\n\z//r;
    Carp::croak("Cameleer::Broadcast->publish: $reason") if length $reason;
    return;
}

sub presence ( $class, $channel ) { return _presence($channel) }

# Fields of a response that leave it with the front.
sub hold ( $class, $channels, $kind = 'stream' ) {
    my @names = ref $channels ? @$channels : ($channels);
    Carp::croak('Cameleer::Broadcast->hold: expected a channel') if !@names || grep { !length } @names;
    Carp::croak("Cameleer::Broadcast->hold: expected stream, raw or response, got $kind") if $kind !~ /\A(?:stream|raw|response)\z/;
    for my $name (@names) {
        utf8::downgrade( $name, 1 ) or Carp::croak('Cameleer::Broadcast: the name of a channel has wide characters: encode it first');
        $name =~ s/([^A-Za-z0-9._~:\/-])/sprintf '%%%02X', ord $1/ge;
    }
    return ( 'Cameleer-Hold' => $kind, 'Cameleer-Channel' => join ', ', @names );
}

# Calls the subscribers; the list has channel and message in turn. One that dies does not stop the others.
sub deliver ($messages) {
    while ( my ( $channel, $message ) = splice @$messages, 0, 2 ) {
        my $all = $subscribers{$channel} or next;
        for my $number ( sort { $a <=> $b } keys %$all ) {
            my $call = $all->{$number} or next;
            next if eval { $call->( $message, $channel ); 1 };
            warn "Cameleer::Broadcast: a subscriber of $channel: $@";
        }
    }
    return;
}

sub end ($subscription) {
    my ( $channel, $number ) = @$subscription{qw(channel number)};
    my $all = $subscribers{$channel} or return;
    delete $all->{$number} or return;
    delete $subscribers{$channel} if !%$all;
    # The front forgets a worker that ends, so a failure needs no report.
    _subscribed( $channel, scalar keys %$all );
    return;
}

package Cameleer::Broadcast::Subscription;

use v5.36;

sub cancel  ($self) { return Cameleer::Broadcast::end($self) }
sub channel ($self) { return $self->{channel} }

sub DESTROY ($self) {
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT';
    local $@;    # a subscription may end while an exception is on its way
    return Cameleer::Broadcast::end($self);
}

1;

__END__

=head1 NAME

Cameleer::Broadcast - messages from any worker to subscribers in event workers

=head1 SYNOPSIS

    use Cameleer::Broadcast;

    # Anywhere: a handler, a script, a PSGI application
    Cameleer::Broadcast->publish('news', 'something has changed');

    # In an event worker
    my $subscription = Cameleer::Broadcast->subscribe( 'news', sub ( $message, $channel ) { ... } );
    $subscription->cancel;

=head1 DESCRIPTION

A message reaches all subscribers of its channel, in the workers of all pools and generations of this server, at most
once; with C<BroadcastTransport>, also those of other servers. Messages of one worker arrive in their order. Channels
begin with their first subscription; a name has 1 to 255 bytes.

Messages are bytes. Text has to be encoded; characters above 255 are an error.

=head1 METHODS

=head2 subscribe($channel, $code)

Calls C<< $code->($message, $channel) >> for each message, until the returned object goes out of scope or its method
C<cancel> is called. Only workers of event pools (C<PsgiMode event>) can subscribe, because others do not read between
requests. A sub that dies is logged, and the others are called.

=head2 publish($channel, $message)

Sends a message, and returns nothing: it does not wait for subscribers, and does not know their number. Dies if the
message is longer than C<BroadcastMaxMessage>. Code that runs before the fork has no effect, because nobody subscribes
then. A child process of a worker cannot publish.

=head2 presence($channel)

The number of subscriptions of all workers at this moment, or undef if the server does not answer, while its front is
replaced. With C<BroadcastTransport> it counts all servers; numbers of others are a second or two old.

=head2 hold($channels, $kind)

Names and values of the header fields with which a response is left with the server's front: the worker is free, and
the client gets the messages of a channel, or of several in an array, until it leaves. C<$kind> is C<stream>, the default,
C<raw> or C<response>. In programs of all kinds.

    [ 200, [ 'Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold('news') ], [''] ];

=head1 SEE ALSO

F<docs/operating/broadcast.md>

=cut
