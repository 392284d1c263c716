# Statements of the manuals of Apache::File, Table, URI, Util, Log (mod_perl 1.31) and Apache::Request, Upload, Cookie
# (libapreq 1) that no other test checks. Each case names its source.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    # File.pm, new: "returning the filehandle object on success, undef on failure"
    new    => sub ($r) { join '|', ref Apache::File->new, ref Apache::File->new(__FILE__), Apache::File->new('/no/such') // 'undef' },
    # File.pm, open: "including support for file modes", and a program
    modes  => sub ($r) {
        my ($folder) = $ENV{TMPDIR} =~ /(.*)/s;
        my ( $name, $fh ) = ( "$folder/out", Apache::File->new );
        local $ENV{PATH} = '/usr/bin:/bin';
        my @done = ( $fh->open(">$name"), print( {$fh} "one\n" ), $fh->close, $fh->open(">>$name"), print( {$fh} "two\n" ), $fh->close );
        $fh->open("sort -r $name |");
        join( '', map { $_ ? 1 : 0 } @done ) . '|' . join '', map { s/\n/,/r } <$fh>;
    },
    # File.pm, close: "false upon failure"
    closed => sub ($r) { my $fh = Apache::File->new(__FILE__); join '|', map { $_ ? 1 : 0 } $fh->close, $fh->close },
    # File.pm, tmpfile: "opened for reading and writing"; in scalar context the handle; its folder is TMPDIR's
    tmp    => sub ($r) {
        my ( $name, $fh ) = Apache::File->tmpfile;
        my $alone = Apache::File->tmpfile;
        print {$fh} "written\n";
        seek $fh, 0, 0;
        $r->notes( tmp => $name );
        join '|', scalar(<$fh>) =~ s/\n//r, ref $alone, ( stat $name )[2] & 077, $name;
    },
    # File.pm, set_content_length: "the size returned by $r->filename"
    length => sub ($r) { $r->filename(__FILE__); $r->set_content_length; my $all = $r->header_out('Content-Length'); $r->headers_out->unset('Content-Length'); $all == -s __FILE__ },
    # File.pm, update_mtime: "only be updated if the new time is more recent"; set_last_modified with a time calls it
    mtime  => sub ($r) {
        $r->filename(__FILE__);
        $r->update_mtime(1000);
        $r->update_mtime(500);
        my @seen = $r->mtime;
        $r->set_last_modified(2000);
        join '|', @seen, $r->mtime, $r->header_out('Last-Modified');
    },
    # File.pm, set_last_modified: "checks that the specified time is not in the future"
    future => sub ($r) { $r->set_last_modified( time + 10_000 ); Apache::Util::parsedate( $r->header_out('Last-Modified') ) <= time + 1 ? 'now' : 'then' },
    # Table.pm, SYNOPSIS and the methods with their hash forms
    table  => sub ($r) {
        my $t = Apache::Table->new($r);
        $t->set( From => 'a' );
        $t->{To} = 'b';
        $t->add( From => 'c' );
        $t->merge( To => 'd' );
        my @pairs;
        while ( my ( $key, $val ) = each %$t ) { push @pairs, "$key=$val" }
        delete $t->{To};
        my @seen = ( scalar $t->get('from'), join( ',', $t->get('From') ), $t->{To} // 'undef', exists $t->{FROM} ? 'there' : 'not' );
        %$t = ();
        join '|', @pairs, @seen, scalar keys %$t;
    },
    # Util.pm, unescape_uri_info: example
    town   => sub ($r) { my %data = map { Apache::Util::unescape_uri_info($_) } split /[=&]/, 'name=Fred+Flintstone&town=Bedrock', -1; join '|', @data{qw(name town)} },
    # Util.pm, parsedate: three formats
    dates  => sub ($r) { join '|', map { Apache::Util::parsedate($_) } 'Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994' },
    # Util.pm, ht_time: three examples
    times  => sub ($r) { join '|', map { length } Apache::Util::ht_time(784111777), Apache::Util::ht_time( 784111777, '%d %b %Y %T %Z' ), Apache::Util::ht_time( 784111777, '%d %b %Y %T', 0 ) },
    # Util.pm, validate_password: crypt, and a mismatch
    smash  => sub ($r) { my $line = crypt 'slipknot', 'aX'; join '|', map { $_ ? 1 : 0 } Apache::Util::validate_password( 'slipknot', $line ), Apache::Util::validate_password( 'slip', $line ) },
    # Util.pm, size_string: with $r->finfo
    size   => sub ($r) { $r->filename(__FILE__); Apache::Util::size_string( -s $r->finfo ) =~ /\A *\dk\z/ ? 'k' : 'other' },
    # URI.pm, parse and each part; rpath: "the path minus path_info"
    uri    => sub ($r) {
        my $u = Apache::URI->parse( $r, 'http://me:secret@www.foo.com:81/path/file.html?query+string#part' );
        join '|', map { $u->$_ } qw(scheme hostinfo user password hostname port path query fragment unparse);
    },
    parsed => sub ($r) { my $u = $r->parsed_uri; join '|', ref $u, $u->path, $u->query, $u->rpath },
    # Log.pm, SYNOPSIS: of a request and of a server
    log    => sub ($r) { $r->log->debug("You only see this if LogLevel is debug"); $r->log->error('seen'); join '|', ref $r->log, ref $r->server->log },
    # Request.pm, instance: the same object within one request, a new one for a subrequest; Request.pm, param
    apreq  => sub ($r) {
        my $one = Apache::Request->instance($r);
        my $two = Apache::Request->instance( $r, POST_MAX => 1 );
        my $sub = Apache::Request->instance( $r->lookup_uri('/x?b=2') );
        $one->param( foo => [qw(one two three)] );
        join '|', $one == $two ? 'same' : 'other', $one == $sub ? 'same' : 'other', scalar $one->param('a'), join( ',', $one->param('foo') ), join( ',', $one->param );
    },
    # Cookie.pm: name, value, domain, path, expires, secure: "get or set"
    cookie => sub ($r) {
        my $c = Apache::Cookie->new( $r, -name => 'foo', -value => 'bar', -expires => '+3M', -domain => '.capricorn.com', -path => '/cgi-bin/database', -secure => 1 );
        my @was = map { scalar $c->$_ } qw(name value domain path secure);
        $c->name('Foo');
        $c->value( [ 'x', 'y' ] );
        $c->domain('.cp.net');
        $c->path('/');
        join '|', @was, $c->name, join( ',', $c->value ), $c->domain, $c->path, $c->as_string =~ /\AFoo=x&y; domain=\.cp\.net; path=\/; expires=\S+, \S+ \S+ GMT; secure\z/ ? 'whole' : $c->as_string;
    },
);

package My::Cases {
    sub handler ($r) { $r->print( $CASES{ $r->path_info =~ s{/}{}r }->($r) ); return 0 }
}

package main;
if ( TestServer::in_server() ) {
    require $_ for qw(Apache/File.pm Apache/Util.pm Apache/URI.pm Apache/Request.pm Apache/Cookie.pm);
    return 1;
}

use Test::More;

my $server = TestServer->spawn(<<'CONF');
PerlSetEnv TMPDIR @ROOT@
<Location /m>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
CONF

my %expected = (
    new    => 'Apache::File|Apache::File|undef',
    modes  => '111111|two,one,',
    closed => '1|0',
    length => 1,
    mtime  => '1000|2000|Thu, 01 Jan 1970 00:33:20 GMT',
    future => 'now',
    table  => 'From=a|To=b, d|From=a|a|a,c|undef|there|0',
    town   => 'Fred Flintstone|Bedrock',
    dates  => '784111777|784111777|784111777',
    times  => '29|24|20',
    smash  => '1|0',
    size   => 'k',
    uri    => 'http|me:secret@www.foo.com:81|me|secret|www.foo.com|81|/path/file.html|query+string|part|'
        . 'http://me@www.foo.com:81/path/file.html?query+string#part',
    parsed => 'Apache::URI|/m/parsed|a=1|/m',
    log    => 'Apache::Log::Request|Apache::Log::Server',
    apreq  => 'same|other|1|one,two,three|a,foo',
    cookie => 'foo|bar|.capricorn.com|/cgi-bin/database|on|Foo|x,y|.cp.net|/|whole',
);
is $server->get("/m/$_?a=1")->{content}, $expected{$_}, $_ for sort keys %expected;

my ( $text, $kind, $others, $name ) = split /\|/, $server->get('/m/tmp')->{content};
is "$text $kind $others", 'written Apache::File 0', 'File.pm, tmpfile: only the owner can read and write';
like $name, qr{\A\Q$server->{dir}\E/}, 'File.pm, tmpfile: in a suitable folder';
ok $server->wait_for( 'its end', sub { !-e $name } ), 'File.pm, tmpfile: "the file is unlinked after the transaction"';
unlike $server->log, qr/You only see this/, 'Log.pm, SYNOPSIS: messages below LogLevel';
like $server->log, qr/: seen$/m, 'Log.pm, error';

done_testing;
