# Statements of the manual of mod_perl 1.31 about $r, sentence by sentence, that no other test checks. Each case names
# its source: "Apache.pm" is the POD of the release's Apache/Apache.pm, "Apache.xs" and other files are its code.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    # Apache.pm, Apache->request([$r]); in a script too
    request  => sub ($r) { ${ Apache->request } == $$r ? 'same' : 'other' },
    # Apache.pm, $r->last: "Handy for logging modules"
    last     => sub ($r) { $r->last->uri },
    # Apache.pm, $r->is_main, $r->main, $r->prev, $r->next
    alone    => sub ($r) { join '|', map { $_ // 'undef' } $r->main, $r->prev, $r->next, !!$r->is_main, !!$r->is_initial_req },
    # Apache.pm, $r->allowed: the example
    allowed  => sub ($r) { $r->allowed( $r->allowed | ( 1 << 0 ) | ( 1 << 2 ) ); $r->allowed },
    # Apache.pm, $r->method, $r->method_number: "Passing an argument will set", each its own (Apache.xs)
    method   => sub ($r) { join '|', $r->method('POST'), $r->method, $r->method_number(2), $r->method_number },
    # Apache.pm, $r->args: list and scalar, and set
    args     => sub ($r) { my %in = $r->args; my $old = $r->args('x=y'); join '|', $in{a}, $old, scalar $r->args },
    # Apache.pm, $r->headers_in: "initialize a perl hash"; $r->header_in($key, $val) sets
    header_in => sub ($r) {
        $r->header_in( 'X-New' => 'value' );
        my %in = $r->headers_in;
        join '|', $in{'X-New'}, ref scalar $r->headers_in, $r->headers_in->{'x-new'};
    },
    # Apache.pm, $r->notes: "Will return a HASH reference blessed into the Apache::Table class"
    notes    => sub ($r) { $r->notes( MY_HANDLER => 0 ); join '|', $r->notes('MY_HANDLER'), ref scalar( $r->notes ), $r->notes->{my_handler} },
    # Apache.pm, $r->pnotes: "takes any scalar as a value"
    pnotes   => sub ($r) { $r->pnotes( MY_HANDLER => [qw(one two)] ); $r->pnotes('MY_HANDLER')->[0] . ref $r->pnotes },
    # Apache.pm, $r->dir_config: "Keys are case-insensitive"; ->get for PerlAddVar; ->add extends
    config   => sub ($r) {
        my @before = $r->dir_config->get('key');
        $r->dir_config->add( Key => 'Value3' );
        join '|', $r->dir_config('KEY'), "@before", join( ' ', $r->dir_config->get('Key') ), ref $r->dir_config;
    },
    # Apache.pm, $r->content_type: "Get or set", and the old value
    type     => sub ($r) { $r->content_type('text/x-one'); my $before = $r->content_type('text/plain'); $before },
    # Apache.pm, $r->content_languages: "is an array reference"
    languages => sub ($r) { $r->content_languages( [qw(en no)] ); join '|', @{ $r->content_languages } },
    # Apache.pm, $r->status_line: "it will take precedence over the value specified using $r->status"
    line     => sub ($r) { $r->status_line('203 Taken Along'); $r->status(200); $r->send_http_header('text/plain'); $r->status },
    # api.pl 111: status_line is set after the header was sent
    sent     => sub ($r) { my $before = $r->status_line; $r->send_http_header('text/plain'); ( $before // 'undef' ) . '|' . $r->status_line },
    # Apache.pm, $r->no_cache: "must be called before send_http_header"
    no_cache => sub ($r) { $r->no_cache(1); join '|', $r->header_out('Pragma'), $r->header_out('Cache-control'), $r->no_cache },
    # Apache.pm, $r->print: "If an item in @list is a scalar reference, it will be dereferenced before printing"
    print    => sub ($r) { my $foo = \'bar'; $r->print( 'a', $foo ); '' },
    # Apache.pm, $r->server_root_relative: without an argument ServerRoot; Apache-> needs no request
    root     => sub ($r) {
        ( my $root = $r->server_root_relative ) =~ s{/\z}{};
        my $log = Apache->server_root_relative('logs/error_log');
        $log eq "$root/logs/error_log" && -e "$root/site.conf" ? 'root' : "$root $log";
    },
    # Apache.xs, custom_response: returns the old value, undef removes it; Apache.pm: it sets the ErrorDocument
    custom   => sub ($r) {
        my @seen = ( $r->custom_response(404), $r->custom_response(403) );
        push @seen, $r->custom_response( 403, 'go away' ), $r->custom_response(403), $r->custom_response( 403, '/other.html' );
        push @seen, $r->custom_response( 403, undef ), $r->custom_response(403);
        join ';', map { $_ // 'undef' } @seen;
    },
    # Apache.xs, bytes_sent: counts output of any kind
    bytes    => sub ($r) {
        $r->send_http_header('text/plain');
        print 'ab';
        syswrite STDOUT, 'cdefg';
        local $ENV{PATH} = '/usr/bin:/bin';
        system 'printf hij';
        $r->bytes_sent;
    },
    # Server.xs, port: setter
    port     => sub ($r) { my $s = $r->server; my $was = $s->port(8042); my @seen = ( $was, $s->port, $r->server->port ); $s->port($was); "@seen" },
    # Apache.pm, $s->server_admin; httpd 1.3's httpd.h has the default
    admin    => sub ($r) { $r->server->server_admin . '|' . $ENV{SERVER_ADMIN} },
    # Apache.pm, $s->loglevel with the constants of Apache::Log
    level    => sub ($r) { my $was = $r->server->loglevel( Apache::Log::DEBUG() ); my $now = $r->server->loglevel; $r->server->loglevel($was); "$was $now" },
    # Apache.pm, $r->get_handlers: a reference to a list of references to subs, or names
    handlers => sub ($r) { my $list = $r->get_handlers('PerlHandler'); ref $list },
    # Apache.pm, $r->current_callback
    callback => sub ($r) { $r->current_callback },
    # Apache.pm, Apache::unescape_url, Apache::unescape_url_info
    unescape => sub ($r) { my $x = 'a%2Fb+c'; Apache::unescape_url("$x") . '|' . Apache::unescape_url_info("$x") },
    # Apache.pm, Apache::perl_hook
    hooks    => sub ($r) { join '', map { Apache::perl_hook($_) ? 1 : 0 } qw(Access Authen Authz ChildInit Cleanup Fixup HeaderParser Init Log Trans Type Nonsense) },
    # Apache.pm, $r->lookup_uri: methods of Apache are inherited, and of the example
    lookup   => sub ($r) {
        my $sub = $r->lookup_uri('/there.txt');
        join '|', ref $sub, $sub->isa('Apache'), -e $sub->filename ? 'there' : 'not', $sub->main->uri, !!$sub->is_main, !!$sub->is_initial_req;
    },
    # Apache.pm, $r->lookup_file; $subr->run != OK
    part     => sub ($r) { $r->send_http_header('text/plain'); $r->print('['); my $said = $r->lookup_file( $r->document_root . '/there.txt' )->run; "]$said" },
    # Apache.pm, $r->location; $r->filename is set by the argument
    location => sub ($r) { my $was = $r->filename('/tmp/x'); join '|', $r->location, $r->filename, $was ne '/tmp/x' },
    # Apache.pm, $r->register_cleanup: "my $r = shift" is the request
    cleanup  => sub ($r) { $r->register_cleanup( sub { my $r = shift; $r->warn( 'registered cleanup called for ', $r->uri ) } ); '' },
    # Apache.xs, register_cleanup: it is of the pool of the request, and a subrequest's goes with its object
    scope    => sub ($r) {
        my @seen;
        { my $sub = $r->lookup_uri('/there.txt'); $sub->register_cleanup( sub { push @seen, $_[0]->uri } ); push @seen, 'kept' }
        push @seen, 'gone';
        "@seen";
    },
    # Apache.pm, $r->document_root; the argument sets it
    docroot  => sub ($r) { my $was = $r->document_root('/home/x/www'); $was eq $r->server->document_root ? $r->document_root : 'other' },
    # Apache.pm, $r->hostname, $r->protocol, $r->request_time, $r->the_request, $r->proxyreq, $r->header_only
    line_in  => sub ($r) { join '|', $r->hostname, $r->protocol, $r->request_time > time - 60, $r->the_request, $r->proxyreq, $r->header_only },
    # Apache.xs, Apache::module: of files in C and of packages
    module   => sub ($r) { join '', map { Apache->module($_) ? 1 : 0 } qw(mod_perl.c Apache::Constants No::Such) },
    # Apache.pm, $r->err_header_out($header, [$value]); a table; Apache::Table
    err      => sub ($r) { $r->err_header_out( Warning => 'Bad luck' ); join '|', $r->err_header_out('Warning'), ref scalar $r->err_headers_out },
    # mod_perl_traps and cgi_to_mod_perl: MOD_PERL and GATEWAY_INTERFACE in %ENV identify the environment of a script
    gateway  => sub ($r) { join '|', $ENV{MOD_PERL} =~ m{\Amod_perl/1\.31} ? 'mod_perl' : $ENV{MOD_PERL}, $ENV{GATEWAY_INTERFACE} },
);

package My::Cases {
    sub handler ($r) { $r->print( $CASES{ $r->path_info =~ s{/}{}r }->($r) ); return 0 }
}

# Apache.pm, $r->internal_redirect: "without telling the client"
package My::Away { sub handler ($r) { $r->internal_redirect('/there.txt'); return 0 } }

# Apache.pm, $r->push_handlers; Apache.xs calls pushed handlers after the configured ones
package My::Pushed { sub handler ($r) { $r->push_handlers( PerlHandler => sub { $_[0]->print('footer'); 0 } ); $r->print('page '); return 0 } }

# Apache.pm, $r->set_handlers: "[ \&OK ] can be used to disable a particular phase"
package My::Disabled { sub handler ($r) { $r->set_handlers( PerlAccessHandler => [ \&Apache::Constants::OK ] ); return 0 } }
package My::Never    { sub handler ($r) { return 403 } }

# Apache.pm, $r->custom_response: both ways of its example
package My::Refused {
    sub handler ($r) { $r->custom_response( 401, $r->args eq 'text' ? 'sorry, go away' : '/there.txt' ); return 401 }
}

# Apache.pm, $r->document_root: the example, a handler of the Trans phase
package My::Roots { sub handler ($r) { $r->document_root( $r->document_root . '/ana' ) if $r->uri =~ m{\A/home}; return -1 } }

package main;
return 1 if TestServer::in_server();

use Test::More;

my $conf = <<'CONF';
ErrorDocument 500 "the page for a failure
PerlTransHandler My::Roots
ErrorDocument 404 /missing.html
<Location /m>
    SetHandler perl-script
    PerlHandler My::Cases
    PerlSetVar Key Value1
    PerlAddVar Key Value2
</Location>
<Location /away>
    SetHandler perl-script
    PerlHandler My::Away
</Location>
<Location /pushed>
    SetHandler perl-script
    PerlHandler My::Pushed
</Location>
<Location /disabled>
    SetHandler perl-script
    PerlHandler My::Pushed
    PerlHeaderParserHandler My::Disabled
    PerlAccessHandler My::Never
</Location>
<Location /refused>
    SetHandler perl-script
    PerlHandler My::Refused
</Location>
Alias /perl/ @ROOT@/perl/
<Location /perl>
    SetHandler perl-script
    PerlHandler Apache::Registry
    Options +ExecCGI
    PerlSendHeader On
</Location>
CONF
my $form = q{use CGI; my $q = CGI->new; print $q->header('text/plain'), '(', join( ',', map { "$_=" . $q->param($_) } $q->param ), ')';};
my $HTTP   = TestServer::protocol();
my $server = TestServer->spawn(
    $conf,
    'there.txt'       => 'there',
    'home/page.txt'   => 'main',
    'ana/home/page.txt' => 'of ana',
    'perl/away.pl'    => q{my $r = shift; $r->internal_redirect('/there.txt');},
    'perl/form.pl'    => $form,
    'perl/both.pl'    => q{use Apache::Include; print "Content-Type: text/plain\n\n"; Apache::Include->virtual("/perl/form.pl?$_") for 'a=1', 'b=2';},
);

my %expected = (
    request   => 'same',
    last      => '/m/last',
    alone     => 'undef|undef|undef|1|1',
    allowed   => 5,
    method    => 'GET|POST|0|2',
    args      => '1|a=1|x=y',
    header_in => 'value|Apache::Table|value',
    notes     => '0|Apache::Table|0',
    pnotes    => 'oneHASH',
    config    => 'Value1|Value1 Value2|Value1 Value2 Value3|Apache::Table',
    type      => 'text/x-one',
    languages => 'en|no',
    line      => 203,
    sent      => 'undef|200 OK',
    no_cache  => 'no-cache|no-cache|1',
    print     => "abar",
    root      => 'root',
    custom    => '/missing.html;undef;undef;go away;go away;/other.html;undef',
    bytes     => 'abcdefghij10',
    port      => "$server->{port} 8042 8042",
    admin     => 'webmaster@example.org|webmaster@example.org',
    level     => '4 7',
    handlers  => 'ARRAY',
    callback  => 'PerlHandler',
    unescape  => 'a/b+c|a/b c',
    hooks     => '111111111110',
    lookup    => 'Apache::SubRequest|1|there|/m/lookup||',
    part      => '[there]0',
    location  => '/m|/tmp/x|1',
    cleanup   => '',
    scope     => 'kept /there.txt gone',
    docroot   => '/home/x/www',
    line_in   => "127.0.0.1|$HTTP|1|GET /m/line_in?a=1 $HTTP|0|0",
    module    => 110,
    err       => 'Bad luck|Apache::Table',
    gateway   => 'mod_perl|CGI-Perl/1.1',
);
is_deeply [ sort keys %expected ], [ sort keys %CASES ], 'every case has an expected result';
my @cases   = sort keys %expected;
my @answers = $server->get_each( map {"/m/$_?a=1"} @cases );
is shift(@answers)->{content}, $expected{$_}, $_ for @cases;

my $words = $HTTP eq 'HTTP/2.0' ? 'Non-Authoritative Information' : 'Taken Along';
is $server->get('/m/line')->{reason}, $words, 'Apache.pm, $r->status_line: the client gets the reason phrase, except over HTTP/2';
like $server->log, qr{registered cleanup called for /m/cleanup$}m, 'Apache.pm, $r->register_cleanup';
like $server->get('/there.txt')->{headers}{server}, qr{\bmod_perl/1\.31\b}, 'mod_perl.c: the Server header names mod_perl';

is $server->get('/away')->{content}, 'there', 'Apache.pm, $r->internal_redirect out of a handler';
is $server->get('/perl/away.pl')->{content}, 'there', 'Apache.pm, $r->internal_redirect out of a script with PerlSendHeader On';
unlike $server->log, qr/Premature end/, 'a script without a header';
is $server->get('/perl/both.pl')->{content}, '(a=1)(b=2)', 'Apache::Include, virtual: each script has parameters of its own';
is $server->get('/pushed')->{content}, 'page footer', 'Apache.xs, push_handlers: behind the configured ones';
is $server->get('/disabled')->{status}, 200, 'Apache.pm, $r->set_handlers with \&OK';
is join( ' ', @{ $server->get('/refused?text') }{qw(status content)} ), '401 sorry, go away', 'Apache.pm, $r->custom_response: a string';
is join( ' ', @{ $server->get('/refused?page') }{qw(status content)} ), '401 there', 'Apache.pm, $r->custom_response: a page';
is $server->get('/home/page.txt')->{content}, 'of ana', 'Apache.pm, $r->document_root in a PerlTransHandler';

done_testing;
