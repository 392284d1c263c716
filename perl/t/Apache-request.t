# Facts about the request that a handler can read.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

package My::Args {
    sub handler ($r) {
        $r->send_http_header('text/plain');
        my $scalar = $r->args;
        my @list   = $r->args;
        $r->print( defined $scalar ? $scalar : 'undef', '|', join( ',', @list ) );
        return 0;
    }
}

package My::Line {
    sub handler ($r) {
        $r->send_http_header('text/plain');
        $r->print( join '|', map { $_ // 'undef' } $r->the_request, $r->method, $r->method_number, $r->uri, $r->path_info,
            $r->header_only, $r->location, $r->header_in('X-Test'), $r->headers_in->{'x-test'}, $r->dir_config('Colour'),
            $r->connection->remote_ip, $r->server->server_admin, ref Apache->request );
        return 0;
    }
}

package My::Env {
    sub handler ($r) {
        $r->send_http_header('text/plain');
        $r->print( join "\n", map { "$_=$ENV{$_}" } sort keys %ENV );
        return 0;
    }
}

package main;
TestServer::in_server() and return 1;

use Test::More;

my $server = TestServer->spawn(<<'END');
<Location /args>
    SetHandler perl-script
    PerlHandler My::Args
</Location>
<Location /line>
    SetHandler perl-script
    PerlHandler My::Line
    PerlSetVar Colour green
</Location>
<Location /env>
    SetHandler perl-script
    PerlHandler My::Env
    PerlSetEnv EXTRA yes
</Location>
<Location /env/bare>
    PerlSetupEnv Off
</Location>
END

subtest 'args are a string in scalar context, names and values in list context' => sub {
    my %cases = (
        ''               => 'undef|',
        '?'              => 'undef|',
        '?a=1&b=2'       => 'a=1&b=2|a,1,b,2',
        '?a=%41+b&a=2'   => 'a=%41+b&a=2|a,A b,a,2',
        '?a=x=y;b='      => 'a=x=y;b=|a,x=y,b,',
        '?word+other'    => 'word+other|word other',
        '?a=%zz%4'       => 'a=%zz%4|a,%zz%4',
    );
    is $server->get("/args$_")->{content}, $cases{$_}, "args of \"$_\"" for sort keys %cases;
};

subtest 'the request line, the headers, the place and the client' => sub {
    is $server->get( '/line/more', 'X-Test' => 'here' )->{content},
        'GET /line/more ' . TestServer::protocol() . '|GET|0|/line/more|/more|0|/line|here|here|green|127.0.0.1|webmaster@example.org|Apache';
};

subtest '%ENV is CGI/1.1' => sub {
    my %env = map { split /=/, $_, 2 } split /\n/, $server->get( '/env/x?q=1', 'X-A' => 'b', Proxy => 'evil' )->{content};
    my %expected = (
        GATEWAY_INTERFACE => 'CGI-Perl/1.1',
        MOD_PERL          => 'mod_perl/1.31',
        REQUEST_METHOD    => 'GET',
        SCRIPT_NAME       => '/env',
        PATH_INFO         => '/x',
        QUERY_STRING      => 'q=1',
        REQUEST_URI       => '/env/x?q=1',
        SERVER_PROTOCOL   => TestServer::protocol(),
        REMOTE_ADDR       => '127.0.0.1',
        SERVER_ADMIN      => 'webmaster@example.org',
        HTTP_X_A          => 'b',
        EXTRA             => 'yes',
    );
    is $env{$_}, $expected{$_}, $_ for sort keys %expected;
    ok !exists $env{HTTP_PROXY}, 'no HTTP_PROXY';
    my $bare = $server->get('/env/bare')->{content};
    unlike $bare, qr/REMOTE_ADDR/, 'PerlSetupEnv Off';
    like $bare,   qr/^EXTRA=yes$/m;
};

done_testing;
