# Apache::URI: the parts of a URI, and their composition.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my @PARTS = qw(scheme user password hostname port path query fragment hostinfo);
my $LONG  = 'http://me:pw@www.example.org:8080/a/b;c?d=e#f';

my %CASES = (
    long    => sub ($r) { parts( Apache::URI->parse( $r, $LONG ) ) },
    ipv6    => sub ($r) { parts( Apache::URI->parse( $r, 'https://[::1]:444/' ) ) },
    path    => sub ($r) { parts( Apache::URI->parse( $r, '/only/path' ) ) },
    mail    => sub ($r) { parts( Apache::URI->parse( $r, 'mailto:a@b' ) ) },
    unparse => sub ($r) {
        my $uri = Apache::URI->parse( $r, $LONG );
        join ' ', map { $uri->unparse(@$_) } [], [8], [1], [2], [ 4 | 16 ], [ 4 | 32 ];
    },
    set => sub ($r) {
        my $uri = Apache::URI->parse( $r, 'http://x/' );
        $uri->scheme('https');
        $uri->port(443);
        $uri->path('/new');
        my $was = $uri->query('q=1');
        $uri->unparse . ( defined $was ? '' : ' none before' );
    },
    'own/more' => sub ($r) { Apache::URI->parse($r)->unparse =~ s/:\d+/:PORT/r },
    'parsed/more' => sub ($r) {
        my $uri = $r->parsed_uri;
        join '|', map { $_ // 'undef' } $uri->path, $uri->query, $uri->path_info, $uri->rpath, $uri->hostname;
    },
);

sub parts ($uri) { return join '|', map { $uri->$_ // '' } @PARTS }

if ( TestServer::in_server() ) {
    require Apache::URI;
    return TestServer::serve_cases( \%CASES );
}

use Test::More;

my %expected = (
    long          => 'http|me|pw|www.example.org|8080|/a/b;c|d=e|f|me:pw@www.example.org:8080',
    ipv6          => 'https|||[::1]|444|/|||[::1]:444',
    path          => '|||||/only/path|||',
    mail          => 'mailto|||||a@b|||',
    unparse       => join( ' ', 'http://me@www.example.org:8080/a/b;c?d=e#f', $LONG, '/a/b;c?d=e#f',
        'http://:XXXXXXXX@www.example.org:8080/a/b;c?d=e#f', 'http://me@www.example.org:8080',
        'http://me@www.example.org:8080/a/b;c' ),
    set           => 'https://x/new?q=1 none before',
    'own/more'    => TestServer::scheme() . '://127.0.0.1:PORT/u/own/more?q=1',
    'parsed/more' => '/u/parsed/more|q=1|/parsed/more|/u|undef',
);
TestServer->check_cases( \%expected, '?q=1' );

done_testing;
