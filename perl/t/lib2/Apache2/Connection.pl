# Apache2::Connection: addresses, state and notes of a connection; run by packages.t

use v5.36;

return {
    addresses  => [ sub ($r) { my $c = $r->connection; join '|', $c->client_ip, $c->local_ip, $c->client_addr->ip_get, $c->local_addr->port },
        qr/\A127\.0\.0\.1\|127\.0\.0\.1\|127\.0\.0\.1\|[1-9]\d+\z/ ],
    aborted    => [ sub ($r) { $r->connection->aborted ? 'gone' : 'there' }, 'there' ],
    keepalive  => [ sub ($r) { $r->connection->keepalive }, qr/\A\d\z/ ],
    base       => [ sub ($r) { ref $r->connection->base_server }, 'Apache2::ServerRec' ],
    notes      => [ sub ($r) { $r->connection->notes->set( a => 'noted' ); $r->connection->notes->get('a') }, 'noted' ],
    pnotes     => [ sub ($r) { require Apache2::ConnectionUtil; $r->connection->pnotes( a => [ 1, 2 ] ); "@{ $r->connection->pnotes('a') }" }, '1 2' ],
    host       => [ sub ($r) { $r->connection->get_remote_host }, qr/\A(?:127\.0\.0\.1|localhost.*)\z/ ],
};
