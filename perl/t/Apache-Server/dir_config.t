# Apache->server->dir_config: what PerlSetVar says outside any container, in requests and while the server starts.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

sub described ($variables) {
    my @all = map { scalar( $variables->get($_) ) . '(' . join( '|', $variables->get( lc $_ ) ) . ')' } sort keys %$variables;
    return join ' ', @all, $variables->{ROOT}, exists $variables->{Other} ? 'other' : 'no other', scalar( () = $variables->get('Other') );
}

package My::Variables {
    my $at_start = TestServer::in_server() && main::described( Apache->server->dir_config );

    sub handler ($r) {
        my $server = $r->server;
        my $change = eval { $server->dir_config->{Root} = 'x'; 'changed' } // $@;
        my %say    = (
            '/start'   => $at_start,
            '/request' => main::described( $server->dir_config ),
            '/named'   => $server->dir_config('Root'),
            '/change'  => $change,
        );
        $r->print( $say{ $r->path_info } );
        return 0;
    }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'END');
PerlSetVar Root /first
PerlAddVar List a
PerlAddVar List b
<Location /v>
SetHandler perl-script
PerlHandler My::Variables
PerlSetVar Other inner
</Location>
END

my $expected = 'a(a|b) /first(/first) /first no other 0';
is $server->get('/v/start')->{content},   $expected, 'while the server starts';
is $server->get('/v/request')->{content}, $expected, 'in a request, without the section of its own';
is $server->get('/v/named')->{content},   '/first',  'one by name';
like $server->get('/v/change')->{content}, qr/\Athe server's variables are what its configuration says/, 'not to be changed';

done_testing;
