# Apache::Cookie: baking, reading, the forms of expires.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    full => sub ($r) {
        Apache::Cookie->new( $r, -name => 'n', -value => 'v', -expires => 'Thu, 01-Jan-2037 00:00:00 GMT', -domain => '.x.org',
            -path => '/p', -secure => 1 )->as_string;
    },
    bare    => sub ($r) { Apache::Cookie->new( $r, name => 'n', value => '' )->as_string },
    values  => sub ($r) { Apache::Cookie->new( $r, -name => 'a b', -value => [ 'x&y', 'z=1;', "\x{e9}\n," ] )->as_string },
    hash    => sub ($r) { Apache::Cookie->new( $r, -name => 'h', -value => { k => 'v' } )->as_string },
    nothing => sub ($r) { Apache::Cookie->new($r)->as_string },
    change  => sub ($r) {
        my $c = Apache::Cookie->new( $r, -name => 'n', -value => 'v', -secure => 'off' );
        my @before = ( $c->name('m'), scalar $c->value( [ 1, 2 ] ), $c->domain('d') // 'undef', $c->path('/'), $c->secure || 'off',
            $c->expires // 'never' );
        $c->secure('on');
        join '|', @before, join( ',', $c->value ), $c->secure, $c->as_string;
    },
    expires => sub ($r) {
        my $form = qr/\A\w{3}, \d\d-\w{3}-\d{4} \d\d:\d\d:\d\d GMT\z/;
        my %shift = ( now => 0, '+30s' => 30, '-1m' => -60, '+2h' => 7200, '+1d' => 86_400, '+1M' => 2_592_000, '-1y' => -31_536_000 );
        my @wrong = grep {
            my $said = Apache::Cookie->new( $r, -name => 'n', -expires => $_ )->expires;
            $said !~ $form || abs( Apache::Util::parsedate( $said =~ s/-/ /gr ) - time - $shift{$_} ) > 2
        } sort keys %shift;
        "wrong: @wrong";
    },
    # libapreq's Cookie.xs, sv_2cookie: methods on the class work as on a new cookie
    of_class => sub ($r) {
        my $then = Apache::Util::parsedate( Apache::Cookie->expires('-1d') =~ s/-/ /gr );
        join '|', abs( $then + 86_400 - time ) < 3, Apache::Cookie->name // 'undef', Apache::Cookie->path;
    },
    # libapreq's Cookie.pm: $cookie->parse($cookie_string), also on the class
    parsed => sub ($r) { my $c = Apache::Cookie->parse('x=1; y=a&b'); join '|', $c->{x}->value, $c->{y}->value },
    fetch => sub ($r) {
        my %c = Apache::Cookie->fetch;
        my $c = Apache::Cookie->fetch;
        join '|', ( map { "$_=" . join ',', $c{$_}->value } sort keys %c ), ref $c, ref $c->{a};
    },
    none  => sub ($r) { my %c = Apache::Cookie->fetch; keys(%c) . ( defined scalar( Apache::Cookie->fetch ) ? 'some' : 'none' ) },
    parse => sub ($r) { my %c = Apache::Cookie->new($r)->parse('x=1;y=2'); join ',', map { $_ . $c{$_}->value } sort keys %c },
    bake  => sub ($r) { Apache::Cookie->new( $r, -name => $_, -value => 1, -path => '/' )->bake for qw(a b); $r->status(404); '' },
);

package My::Cases {
    sub handler ($r) { $r->print( $CASES{ $r->path_info =~ s{/}{}r }->($r) ); return $r->status == 404 ? 404 : 0 }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::Cookie;
    return 1;
}

use Test::More;

my $server = TestServer->spawn( <<'CONF', 'dir/c' => 'a file, so that the rest of the path is path_info' );
<Location /dir/c>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
CONF

my %expected = (
    full    => 'n=v; domain=.x.org; path=/p; expires=Thu, 01-Jan-2037 00:00:00 GMT; secure',
    bare    => 'n=; path=/dir/',
    values  => 'a%20b=x%26y&z%3d1%3b&%e9%0a%2c; path=/dir/',
    hash    => 'h=k&v; path=/dir/',
    nothing => '',
    change  => 'n|v|undef|/dir/|off|never|1,2|on|m=1&2; domain=d; path=/; secure',
    expires => 'wrong: ',
    none    => '0none',
    of_class => '1|undef|/dir/',
    parsed  => '1|a|b',
    parse   => 'x1,y2',
);
is $server->get("/dir/c/$_")->{content}, $expected{$_}, $_ for sort keys %expected;
is $server->get( '/dir/c/fetch', Cookie => 'a=1&2%26; b%20c=%41; d; e=x=y' )->{content}, 'a=1,2&|b c=A|d=|e=x=y|HASH|Apache::Cookie',
    'fetch';

my $baked = $server->get('/dir/c/bake');
is_deeply [ $baked->{status}, $baked->{headers}{'set-cookie'} ], [ 404, [ 'a=1; path=/', 'b=1; path=/' ] ], 'bake, also with an error';

done_testing;
