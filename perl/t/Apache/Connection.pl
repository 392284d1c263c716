# Apache::Connection: addresses and user of a connection, read and changed; run by packages.t

use v5.36;
use Socket ();

return {
    remote_ip_is_the_clients_address           => [ sub ($r) { $r->connection->remote_ip },                                                        '127.0.0.1' ],
    remote_addr_has_a_port                     => [ sub ($r) { ( Socket::unpack_sockaddr_in( $r->connection->remote_addr ) )[0] > 0 ? 'port' : 'none' }, 'port' ],
    local_addr_is_the_servers_address          => [ sub ($r) { Socket::inet_ntoa( ( Socket::unpack_sockaddr_in( $r->connection->local_addr ) )[1] ) }, '127.0.0.1' ],
    remote_logname_is_undef                    => [ sub ($r) { $r->connection->remote_logname // 'undef' },                                        'undef' ],
    fileno_of_each_direction_is_a_standard_one => [ sub ($r) { my $c = $r->connection; $c->fileno . $c->fileno(0) },                               '10' ],
    user_can_be_set                            => [ sub ($r) { my $c = $r->connection; $c->user('ana'); $c->user },                                'ana' ],
    auth_type_can_be_set                       => [ sub ($r) { my $c = $r->connection; $c->auth_type('Basic'); $c->auth_type },                    'Basic' ],
    a_waiting_client_has_not_aborted           => [ sub ($r) { $r->connection->aborted ? 'aborted' : 'connected' },                                'connected' ],
    remote_addr_changes_remote_ip              => [
        sub ($r) { my $c = $r->connection; $c->remote_addr( Socket::pack_sockaddr_in( 80, Socket::inet_aton('192.0.2.1') ) ); $c->remote_ip },
        '192.0.2.1',
    ],
    an_invalid_remote_addr_dies                => [ sub ($r) { my $c = $r->connection; eval { $c->remote_addr('x') }; ( $@ ? 'died ' : '' ) . $c->remote_ip }, 'died 127.0.0.1' ],
    leaks_nothing                              => [ sub ($r) { TestServer::growth( sub { $r->connection->remote_addr } ) },                        'steady' ],
};
