# Cameleer::Event::Mojo::Server: gives a request the facts of its client; run by packages.t

use v5.36;
use Mojo::Transaction::HTTP ();
use Mojo::URL               ();

sub My::Event::mounted ( $path, $name ) {
    my $url = Mojo::URL->new($path);
    Cameleer::Event::Mojo::Server::mount( $url, $name );
    return join '|', $url->path, $url->base->path;
}

sub My::Event::transaction (%fields) {
    my $tx = Mojo::Transaction::HTTP->new;
    $tx->req->headers->header( $_ => $fields{$_} ) for sort keys %fields;
    Cameleer::Event::Mojo::Server::take_facts($tx);
    return $tx;
}

return {
    the_mount_path_becomes_a_part_of_the_base => [ sub ($r) { My::Event::mounted( '/at/page', '/at' ) }, '/page|/at/' ],
    the_mount_path_alone_leaves_a_slash       => [ sub ($r) { My::Event::mounted( '/a/b', '/a/b' ) }, '/|/a/b/' ],
    facts_are_set_and_their_fields_removed    => [
        sub ($r) {
            my $tx = My::Event::transaction( 'Cameleer-Client' => '192.0.2.7 99', 'Cameleer-Scheme' => 'https', 'Cameleer-User' => 'ada', Accept => '*/*' );
            join '|', $tx->remote_address, $tx->remote_port, $tx->req->url->base->scheme, $tx->req->env->{REMOTE_USER}, @{ $tx->req->headers->names };
        },
        '192.0.2.7|99|https|ada|Accept'
    ],
    a_connection_that_has_gone_gets_no_entry_again => [
        sub ($r) {
            my $server = Cameleer::Event::Mojo::Server->new( silent => 1 );
            $server->_write('gone');
            join '|', keys %{ $server->{connections} // {} };
        },
        ''
    ],
};
