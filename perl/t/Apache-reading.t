# Reading the request and its body, by methods and by ties.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %HANDLERS = (
    '/as_string' => sub ($r) { $r->header_out( X => 1 ); $r->print( $r->as_string ) },
    '/method'    => sub ($r) {
        my @seen = ( $r->method('PURGE'), $r->method_number(9), $r->method, $r->method_number );
        $r->print("@seen");
    },
    '/server' => sub ($r) {
        $r->print( join '|', $r->get_server_port == ( $ENV{SERVER_PORT} ) ? 'port' : 'other', $r->get_server_name,
            $r->hostname, $r->request_time > time - 100 ? 'now' : 'then', $r->protocol );
    },
    '/proxy'   => sub ($r) { my @seen = ( $r->proxyreq, $r->proxyreq(1), $r->proxyreq ); $r->print("@seen") },
    '/options' => sub ($r) { $r->print( $r->allow_options ) },
    '/root'    => sub ($r) {
        my $before = $r->document_root('/elsewhere');
        $r->print( $before eq $r->server->document_root ? 'same ' : 'other ', $r->document_root, " $ENV{DOCUMENT_ROOT}" );
    },
    '/relative' => sub ($r) {
        my $root = $r->server_root_relative('');
        $r->print( join '|', map { s/^\Q$root\E/ROOT\//r } $r->server_root_relative('a/b'), $r->server_root_relative('/c'),
            Apache->server_root_relative('d') );
    },
    '/read' => sub ($r) {
        my $setup = $r->setup_client_block;
        defined $setup && $setup == 0 && $r->should_client_block or return $r->print('no body');
        my $buffer = 'ab';
        my $first  = $r->read( $buffer, 3, 4 );
        my $rest   = $r->get_client_block( my $more, 1e12 );
        my $none   = $r->read_client_block( my $nothing, 10 );
        $r->print( join '|', $first, $buffer =~ s/\0/_/gr, $rest, $more, $none, $nothing );
    },
    '/tied' => sub ($r) {
        tie *STDIN, 'Apache', $r;
        my $char = getc STDIN;
        my $line = <STDIN>;
        read STDIN, my $three, 3;
        my @rest = <STDIN>;
        $r->print( join '|', map { s/\n/N/gr } $char, $line, $three, @rest );
    },
    '/content' => sub ($r) { my %form = $r->content; $r->print( join ',', map { "$_=$form{$_}" } sort keys %form ) },
    '/body'    => sub ($r) { $r->print( scalar( $r->content ) // 'none' ) },
    '/lists'   => sub ($r) {
        $r->header_out( X => 'y' );
        my %in     = $r->headers_in;
        my %out    = $r->headers_out;
        my %config = $r->dir_config;
        $r->print( "$in{'X-In'} $out{X} $config{Colour} ", ref( scalar $r->headers_in ) );
    },
    '/env' => sub ($r) {
        my %env = $r->cgi_env;
        $r->cgi_var( NEW => 'x' );
        $r->print( join '|', $env{REQUEST_METHOD}, $r->cgi_env('NEW'), $r->subprocess_env('NEW') );
    },
    '/host' => sub ($r) {
        require Apache::Constants;
        my @types = map { Apache::Constants->can("REMOTE_$_")->() } qw(HOST NAME NOLOOKUP);
        $r->print( join '|', map { $_ // 'undef' } ( map { scalar $r->get_remote_host($_) } @types ),
            scalar( $r->get_remote_host ), scalar $r->get_remote_logname );
    },
    '/double' => sub ($r) {
        my $name = $r->get_remote_host( Apache::Constants::REMOTE_DOUBLE_REV() );
        my $own  = gethostbyaddr "\x7f\0\0\1", 2;
        $r->print( ( $name // '' ) eq ( $own // '' ) ? 'as the system says' : $name );
    },
    '/finfo' => sub ($r) { $r->filename( __FILE__ ); $r->print( -s $r->finfo == -s __FILE__ ? 'size' : 'other' ) },
    '/slurp' => sub ($r) { $r->filename( __FILE__ ); my $text = $r->slurp_filename; $r->print( length $$text == -s __FILE__ ) },
    '/chdir' => sub ($r) { $r->chdir_file('/usr/bin/x'); require Cwd; $r->print( Cwd::getcwd() ); chdir '/' },
    '/names' => sub ($r) {
        my $other = $r->gensym;
        print {$other} 'x' if 0;
        $r->print( join '|', ref $other, Apache->module('mod_perl.c'), Apache->module('mod_rewrite.c'),
            Apache->module('Apache::Table'), Apache->module('No::Such'), Apache->define('THERE'), Apache->define('NOT'),
            $r->seqno > 0 ? 'counted' : 'none' );
    },
    '/unescape' => sub ($r) {
        $r->print( join '|', Apache::unescape_url('a%20b+c%'), Apache::unescape_url_info('a%20b+c'),
            Apache::parse_args( 1, 'a=1&b=%32' ), scalar Apache::parse_args( 0, 'a=1' ) );
    },
);

package My::Cases {
    sub handler ($r) { $HANDLERS{ $r->path_info }->($r); return 0 }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $HTTP   = TestServer::protocol();
my $server = TestServer->spawn( <<'END', args => ['-DTHERE'] );
PerlSetVar Colour green
<Location /r>
    SetHandler perl-script
    PerlHandler My::Cases
    Options +ExecCGI +Indexes
</Location>
END

my %get = (
    method   => 'GET 0 PURGE 9',
    server   => "port|127.0.0.1|127.0.0.1|now|$HTTP",
    proxy    => '0 0 1',
    options  => 13,
    root     => 'same /elsewhere /elsewhere',
    relative => 'ROOT/a/b|/c|ROOT/d',
    env      => 'GET|x|x',
    host     => 'undef|127.0.0.1|127.0.0.1|127.0.0.1|undef',
    double   => 'as the system says',
    finfo    => 'size',
    slurp    => 1,
    chdir    => '/usr/bin',
    names    => 'GLOB|1|0|1|0|1|0|counted',
    unescape => 'a b+c%|a b c|a|1|b|2|a=1',
);
is $server->get("/r/$_")->{content}, $get{$_}, $_ for sort keys %get;

is $server->get( '/r/lists', 'X-In' => 'z' )->{content}, 'z y green Apache::Table', 'lists in list context';
like $server->get( '/r/as_string', 'X-In' => 'z' )->{content},
    qr{\AGET /r/as_string $HTTP\n.*^X-In: z\n.*^$HTTP 200\nX: 1\n\n\z}ms, 'as_string';

is $server->post( '/r/read', 'abcdefgh' )->{content}, '3|ab__abc|5|defgh|0|', 'read';
is $server->get('/r/read')->{content}, 'no body', 'read without a body';
is $server->post( '/r/tied', "xone\ntwothree\nfour" )->{content}, 'x|oneN|two|threeN|four', 'a tied STDIN';
is $server->post( '/r/content', 'a=1&b=%32' )->{content}, 'a=1,b=2', 'content is a list';
is $server->post( '/r/body', 'a=1&b=%32' )->{content}, 'a=1&b=%32', 'content is a string';
is $server->post( '/r/body', 'a=1', 'text/plain' )->{content}, 'none', 'content of another type';

done_testing;
