# The request's body: $r->read, $r->content and STDIN are one stream.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %HANDLERS = (
    '/content' => sub ($r) { my %form = $r->content; join ',', map { "$_=$form{$_}" } sort keys %form },
    '/mixed'   => sub ($r) { $r->read( my $b, 2 ); read STDIN, $b, 2, 2; $b . '|' . <STDIN> },
    '/offset'  => sub ($r) { my $b = 'ab'; my $n = $r->read( $b, 3, 2 ); "$b$n" },
    '/child'   => sub ($r) { local $ENV{PATH} = '/usr/bin:/bin'; `cat` },
    '/length'  => sub ($r) { my $n = 0; while ( my $got = $r->get_client_block( my $b, 8192 ) ) { $n += $got } "$n $ENV{CONTENT_LENGTH}" },
    '/cgi'     => sub ($r) { require CGI; my $q = CGI->new; join ',', map { "$_=" . $q->param($_) } sort $q->param },
    '/upload'  => sub ($r) { require CGI; my $q = CGI->new; my $f = $q->upload('f'); join '', $q->param('n'), <$f> },
    '/ignored' => sub ($r) { 'unread' },
);

package My::Body {
    sub handler ($r) { $r->content_type('text/plain'); $r->print( $HANDLERS{ $r->path_info }->($r) ); 0 }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'END');
<Location /b>
    SetHandler perl-script
    PerlHandler My::Body
</Location>
END

my @cases = (
    [ content => 'a=1&b=%32+x',  'a=1,b=2 x' ],
    [ mixed   => "abcdef\nmore", "abcd|ef\n" ],
    [ offset  => 'xyz',          'abxyz3' ],
    [ child   => 'to a child',   'to a child' ],
    [ cgi     => 'a=1&b=2',      'a=1,b=2' ],
    [ ignored => 'x' x 100,      'unread' ],
    [ length  => '',             '0 0' ],
    [ length  => 'z' x 3_000_000, '3000000 3000000' ],
);
is $server->post( "/b/$_->[0]", $_->[1] )->{content}, $_->[2], $_->[0] for @cases;

my $form = join "\r\n", '--X', 'Content-Disposition: form-data; name="n"', '', 'name', '--X',
    'Content-Disposition: form-data; name="f"; filename="x.bin"', '', "\0\1file", '--X--', '';
is $server->post( '/b/upload', $form, 'multipart/form-data; boundary=X' )->{content}, "name\0\1file", 'an upload through CGI.pm';

done_testing;
