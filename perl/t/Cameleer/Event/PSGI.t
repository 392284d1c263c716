# Which values are applications of PSGI, and the environment of the process.

use v5.36;
use lib __FILE__ =~ s{Cameleer/Event/[^/]+\z}{lib}r, __FILE__ =~ s{t/Cameleer/Event/[^/]+\z}{lib}r;
use Test::More;

BEGIN {
    eval { require PsgiPair; PsgiPair::available() } or plan skip_all => 'IO::Async is not installed';
}

package My::App {
    sub to_app ($self) {
        return sub ($env) { [ 200, [], ['object'] ] }
    }
}

package My::Sub {
    use overload '&{}' => sub ($self, @) {
        sub ($env) { [ 200, [], ['overloaded'] ] }
    };
}

ok !Cameleer::Event::PSGI->accepts($_), 'no application: ' . ( $_ // 'undef' ) for undef, 'text', [], {}, bless( {}, 'My::Other' );
like PsgiPair->new( bless {}, 'My::App' )->get, qr/object\z/, 'an object with to_app';
like PsgiPair->new( bless {}, 'My::Sub' )->get, qr/overloaded\z/, 'an object that can be called';

my $pair = PsgiPair->new(
    sub ($env) {
        my $seen = join ' ', $ENV{LEFT} // 'none', $ENV{PATH} eq 'changed' ? 'changed' : 'whole', length $/;
        ( $ENV{LEFT}, $ENV{PATH}, $/ ) = ( 'left', 'changed', undef );
        return [ 200, [], [$seen] ];
    }
);
for ( 1, 2 ) {
    like $pair->get, qr/none whole 1\z/, 'a call of the application begins with the values of the start';
    $ENV{LEFT} = 'left by a callback';
}

delete $ENV{LEFT};
my $delayed = PsgiPair->new(
    sub ($env) {
        return sub ($respond) {
            $respond->( [ 200, [], [ join ' ', $ENV{LEFT} // 'none', length $/ ] ] );
            ( $ENV{LEFT}, $/ ) = ( 'left', undef );
        };
    }
);
for ( 1, 2 ) {
    like $delayed->get, qr/none 1\z/, 'so does the callback of a delayed response';
    is length $/, 1, 'which leaves nothing to callbacks of others';
}

# A callback that dies leaves the loop of IO::Async.
my $server = $pair->{server};
my @did;
local $SIG{__WARN__} = sub ($text) { push @did, $text };
$server->{loop}->later( sub { die "in a callback\n" } );
$server->later( sub { push @did, 'later' } );
$server->later( sub { die "in code for later\n" } );
$server->later( sub { $server->over } );
$server->turn;
is join( '', sort @did ), "in a callback\nin code for later\nlater", 'a callback that dies does not end the server';

done_testing;
