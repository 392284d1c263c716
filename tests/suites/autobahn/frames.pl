# Echo: the front speaks the protocol.
use strict;
use warnings;
use Future::AsyncAwait;

async sub app {
    my ( $scope, $receive, $send ) = @_;
    die "Unsupported: $scope->{type}" if $scope->{type} ne 'websocket';
    await $receive->();
    await $send->( { type => 'websocket.accept' } );
    while (1) {
        my $event = await $receive->();
        last if $event->{type} eq 'websocket.disconnect';
        await $send->( { type => 'websocket.send', defined $event->{text} ? ( text => $event->{text} ) : ( bytes => $event->{bytes} ) } );
    }
}
\&app;
