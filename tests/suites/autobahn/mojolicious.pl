# Echo. A text is decoded, as applications do.
use Mojolicious::Lite -signatures;
use Mojo::Util 'decode';
app->log->level('error');

websocket '/' => sub ($c) {
    $c->inactivity_timeout(600);
    $c->tx->with_compression;
    $c->tx->max_websocket_size( 32 << 20 );
    $c->on( binary => sub ( $c, $bytes ) { $c->send( { binary => $bytes } ) } );
    $c->on(
        text => sub ( $c, $bytes ) {
            my $text = decode( 'UTF-8', $bytes );
            defined $text ? $c->send($text) : $c->finish(1007);
        }
    );
};
app->start;
