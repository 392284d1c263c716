# Apache::ModuleConfig: the objects in which a module's directives store their values, made and merged by its class.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

package My::Merged {
    our $merges = 0;
    sub DIR_CREATE ( $class, $parms ) { return bless { words => ['created'] }, $class }
    sub DIR_MERGE ( $outer, $inner ) { $merges++; return bless { words => [ @{ $outer->{words} }, @{ $inner->{words} } ] }, ref $outer }
    sub SERVER_CREATE ( $class, $parms ) { return bless { word => 'none' }, $class }
    sub word   { push @{ $_[0]{words} }, $_[2] }
    sub server { Apache::ModuleConfig->get( $_[1]->server )->{word} = $_[2] }

    my %ANSWERS = (
        place  => sub ($r) { join ' ', @{ Apache::ModuleConfig->get($r)->{words} } },
        server => sub ($r) { Apache::ModuleConfig->get( $r->server )->{word} },
        named  => sub ($r) { ref Apache::ModuleConfig->get( $r, 'My::Merged' ) },
        object => sub ($r) { ref Apache::ModuleConfig->get( $r, Apache::ModuleConfig->get($r) ) },
        other  => sub ($r) { Apache::ModuleConfig->get( $r, 'My::Unknown' ) // 'undef' },
        same   => sub ($r) { Apache::ModuleConfig->get($r) == Apache::ModuleConfig->get($r) ? 'one object' : 'two' },
        has    => sub ($r) { Apache::ModuleConfig->has_srv_config },
        merges => sub ($r) { my $before = $merges; Apache::ModuleConfig->get($r) for 1 .. 1000; $merges - $before },
        grows  => sub ($r) { TestServer::growth( sub { Apache::ModuleConfig->get($r) } ) },
    );
    sub handler ($r) { $r->print( $ANSWERS{ $r->path_info =~ s{.*/}{}r }->($r) ); return 0 }
}

package My::Plain {
    sub plain { $_[0]{word} = $_[2] }
    sub handler ($r) { my $c = Apache::ModuleConfig->get($r); $r->print( ref($c) . ' ' . ( $c->{word} // 'none' ) ); return 0 }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::ExtUtils;
    require Apache::ModuleConfig;
    Apache::ExtUtils::command_table( 'My::Merged', [ map { { name => "My\u$_", func => $_, args_how => 'TAKE1' } } qw(word server) ] );
    Apache::ExtUtils::command_table( 'My::Plain', [ { name => 'MyPlain', func => 'plain', args_how => 'TAKE1' } ] );
    return 1;
}

use Test::More;

my $server = TestServer->spawn(<<'CONF');
MyWord outer
MyServer main
MyPlain outer
<Location /in>
    SetHandler perl-script
    PerlHandler My::Merged
    MyWord inner
</Location>
<Location /plain>
    SetHandler perl-script
    PerlHandler My::Plain
    MyPlain inner
</Location>
<Location /outer>
    SetHandler perl-script
    PerlHandler My::Plain
</Location>
CONF

my %expected = (
    place => 'created outer created inner', server => 'main', named => 'My::Merged', object => 'My::Merged', other => 'undef',
    same => 'one object', has => 1, merges => 0, grows => 'steady',
);
is $server->get('/in/place')->{content}, $expected{place}, 'place: the first request merges';
is $server->get("/in/$_")->{content}, $expected{$_}, $_ for sort keys %expected;
is $server->get('/plain')->{content}, 'My::Plain inner', 'without DIR_MERGE the innermost object wins';
is $server->get('/outer')->{content}, 'My::Plain outer', 'a section without the directive has the outer object';

done_testing;
