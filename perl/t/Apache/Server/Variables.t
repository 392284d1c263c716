# Apache->server->dir_config: values of PerlSetVar, read as a table; and the list of hooks.

use v5.36;
use lib __FILE__ =~ s{(?:[^/]+/){2}[^/]+\z}{lib}r;
use TestServer;

package My::Variables {
    my $at_start = TestServer::in_server() && ref Apache->server->dir_config;

    my %ANSWERS = (
        hooks  => sub ($) { join ' ', map { Apache::perl_hook($_) ? $_ : "no $_" } qw(TableApi MethodHandlers Nonsense) },
        start  => sub ($variables) { $at_start },
        names  => sub ($variables) { join ' ', sort keys %$variables },
        first  => sub ($variables) { join ' ', scalar $variables->get('List'), $variables->{LIST} },
        all    => sub ($variables) { join ' ', $variables->get('list') },
        none   => sub ($variables) { exists $variables->{None} ? 'there' : scalar( () = $variables->get('None') ) },
        named  => sub ($variables) { Apache->server->dir_config('Root') },
        change => sub ($variables) { eval { $variables->{Root} = 'x' } // $@ },
    );

    sub handler ($r) {
        $r->print( $ANSWERS{ $r->path_info =~ s{/}{}r }->( $r->server->dir_config ) );
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
</Location>
END

my %expected = (
    start => 'Apache::Server::Variables', names => 'List Root', first => 'a a', all => 'a b', none => '0', named => '/first',
    hooks => 'TableApi MethodHandlers no Nonsense', change => "the server's variables are read-only; set them with PerlSetVar\n",
);
is $server->get("/v/$_")->{content}, $expected{$_}, $_ for sort keys %expected;

done_testing;
