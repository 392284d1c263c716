# Apache::Server and Apache::Connection: facts about the server and the client.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

use Socket ();

my %CASES = (
    this => sub ($r) {
        my $s = $r->server;
        join '|', $s->server_hostname, $s->server_admin, $s->is_virtual, "@{ $s->names }", $s->dir_config('Colour') // '',
            $s->dir_config->{Colour} // '';
    },
    all => sub ($r) {
        my @names;
        for ( my $s = Apache->server ; $s ; $s = $s->next ) { push @names, $s->server_hostname }
        "@names";
    },
    process => sub ($r) {
        my $s = $r->server;
        join '|', "uid " . $s->uid eq "uid $>" ? 'me' : 'other', "gid " . $s->gid eq 'gid ' . ( 0 + $) ) ? 'mine' : 'other', $s->timeout, $s->timeout(7), $s->timeout,
            $s->error_fname =~ s{.*/}{}r, $s->port > 0 ? 'port' : 'none';
    },
    user  => sub ($r) {$>},
    level => sub ($r) {
        my $s = $r->server;
        $s->log->debug('before');
        my $was = $s->loglevel( Apache::Log::DEBUG() );
        $s->log->debug( sub { 'code ' . 'ran' } );
        $r->log->critical('critical line');
        $s->loglevel($was);
        my $ran = 0;
        $r->log->info( sub { $ran++ } );
        "$was " . $s->loglevel . " $ran " . ref( $r->log ) . ' ' . ref $s->log;
    },
    cleanup => sub ($r) {
        Apache->server->register_cleanup( sub { Apache->server->log_error('the worker ends') } );
        $r->child_terminate;
        'registered';
    },
    client => sub ($r) {
        my $c = $r->connection;
        my ( $port, $address ) = Socket::unpack_sockaddr_in( $c->remote_addr );
        my ( $own )            = Socket::unpack_sockaddr_in( $c->local_addr );
        join '|', $c->remote_ip, Socket::inet_ntoa($address), $port > 0, $own == $ENV{SERVER_PORT}, $c->aborted, $c->fileno,
            $c->fileno(0), map { $_ // 'undef' } scalar $c->remote_logname, scalar $c->remote_host, scalar $c->user,
            scalar $c->auth_type;
    },
    set => sub ($r) {
        my $c = $r->connection;
        $c->remote_addr( Socket::pack_sockaddr_in( 1, Socket::inet_aton('192.0.2.7') ) );
        $c->remote_host('client.example.org');
        $c->user('me');
        $c->auth_type('Basic');
        join '|', $c->remote_ip, $r->get_remote_host, $r->user, $c->auth_type;
    },
);

package My::Cases {
    sub handler ($r) { $r->print( $CASES{ $r->path_info =~ s{/}{}r }->($r) ); return 0 }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'CONF');
Timeout 42
PerlSetVar Colour green
<Location /s>
    SetHandler perl-script
    PerlHandler My::Cases
    PerlSetVar Colour of-the-location
</Location>
<VirtualHost *>
    ServerName main.example.org
</VirtualHost>
<VirtualHost *>
    ServerName other.example.org
    ServerAlias localhost *.o.example.org
    ServerAdmin other@example.org
    PerlSetVar Colour blue
</VirtualHost>
CONF

sub of ($name) { return $server->client->get( $server->url("/s/$name") =~ s/127\.0\.0\.1/localhost/r )->{content} }

is of('this'), 'other.example.org|other@example.org|1|localhost *.o.example.org|blue|blue', 'the host of the request';
is of('all'), 'localhost main.example.org other.example.org', 'next';
is of('process'), 'me|mine|42|42|7|error.log|port', 'the process';
is of('user'), TestServer::served_as(), 'the user of the process';
is of('level'), '4 4 0 Apache::Log::Request Apache::Log::Server', 'levels';
like $server->log, qr/:debug\].*code ran$/m, 'a level that a program set';
like $server->log, qr/:crit\].*critical line$/m, 'critical';
unlike $server->log, qr/: before$/m, 'a level that is not shown';
is of('client'), '127.0.0.1|127.0.0.1|1|1|0|1|0|undef|undef|undef|undef', 'the connection';
is of('set'), '192.0.2.7|client.example.org|me|Basic', 'values of the connection in a handler';
is of('cleanup'), 'registered';
ok $server->wait_for( 'the cleanup', sub { $server->log =~ /the worker ends$/m } ), 'register_cleanup';

done_testing;
