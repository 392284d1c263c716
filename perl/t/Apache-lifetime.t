# Objects that live exactly as long as the request.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my ( $kept, $count );

package My::Guard { sub DESTROY { Apache->log_error('guard gone') } }

package My::Keep  { sub handler ($r) { $kept = $r; $r->print('kept'); 0 } }
package My::Use   { sub handler ($r) { $r->print( $kept->uri ); 0 } }
package My::Notes { sub handler ($r) {
        $r->pnotes( guard => bless [], 'My::Guard' );
        $r->notes( a => 1 );
        $r->print( ref $r->pnotes('guard'), $r->notes('a'), $r->notes('b') // 'undef' );
        0;
    } }
package My::Empty { sub handler ($r) { $r->print( join ',', keys %{ $r->pnotes }, $r->notes('a') // 'none' ); 0 } }
package My::Clean { sub handler ($r) {
        $r->register_cleanup( sub { $count .= 'a'; die "dies\n" } );
        $r->push_handlers( PerlCleanupHandler => sub { $count .= 'b'; exit } );
        $r->register_cleanup( sub { $count .= 'c' } );
        $r->print('x');
        0;
    } }
package My::Count { sub handler ($r) { $r->print( $count // '' ); 0 } }
package My::Last  { sub handler ($r) { $r->child_terminate; $r->print($$); 0 } }

package main;
TestServer::in_server() and return 1;

use Test::More;

my $conf = join '', map { "<Location /\L$_\E>\nSetHandler perl-script\nPerlHandler My::$_\n</Location>\n" }
    qw(Keep Use Notes Empty Clean Count Last);
my $server = TestServer->spawn($conf);

subtest 'a request object that was kept says so' => sub {
    is $server->get('/keep')->{content}, 'kept';
    is $server->get('/use')->{status},   500;
    like $server->log, qr/this request is over/;
};

subtest 'notes and pnotes' => sub {
    is $server->get('/notes')->{content}, 'My::Guard1undef';
    is $server->get('/empty')->{content}, 'none';
    like $server->log, qr/guard gone/, 'pnotes are freed with the request';
};

subtest 'cleanups run after the response, each one' => sub {
    $server->get('/clean');
    is $server->get('/count')->{content}, 'acb', 'registered cleanups run before the handlers of the phase';
    like $server->log, qr/dies/;
};

subtest 'child_terminate ends the worker after the request' => sub {
    my $pid = $server->get('/last')->{content};
    isnt $server->get('/last')->{content}, $pid;
};

done_testing;
