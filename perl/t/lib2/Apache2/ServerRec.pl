# Apache2::ServerRec: names, timeouts and log of a server; run by packages.t

use v5.36;

return {
    names                       => [ sub ($r) { my $s = $r->server; join '|', $s->server_hostname, $s->server_admin, $s->is_virtual ? 1 : 0 }, 'localhost|webmaster@example.org|0' ],
    timeout                     => [ sub ($r) { $r->server->timeout }, qr/\A\d+000000\z/ ],
    process                     => [ sub ($r) { ref $r->server->process }, 'Apache2::Process' ],
    log                         => [ sub ($r) { $r->server->error_fname }, qr/error\.log\z/ ],
    the_main_server_is_the_last => [ sub ($r) { defined $r->server->next ? 'another' : 'the last' }, 'the last' ],
};
