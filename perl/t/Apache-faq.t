# Statements of the FAQ of mod_perl 1.31 (faq/*.pod), mod_perl_tuning.pod and its C code about handlers and scripts that
# no other test checks. Each case names its source.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    # Apache.pm, $r->print: "called instead of CORE::print when you use print() in your mod_perl programs";
    # $r->write_client: "If an item in @list is a scalar reference, it will be dereferenced"
    print_ref => sub ($r) {
        my $text = 'text';
        $r->send_http_header('text/plain');
        print \$text;
        print STDOUT \"|", \$text, "|$text|";
        { local ( $,, $\ ) = ( '-', "\n" ); print \$text, 'b' }
        $r->print( \$text, '|' );
        $r->write_client( \$text, "|\n" );
        my $wide = "\x{e9}";
        utf8::upgrade($wide);
        print \$wide, "\n";
        my $number = 42;
        print \$number;
        return;
    },
    print_other => sub ($r) {
        $r->send_http_header('text/plain');
        my $object = bless \( my $text = 'inside' ), 'Some::Class';
        print [], '|', $object, '|', \\'x', '|', sub { }, '|', *STDOUT;
        open my $file, '>', \my $memory or die $!;
        print {$file} \( my $other = 'text' );
        print '|', $memory;
        return;
    },
    # Apache.xs, method and method_number: independent fields, which may differ
    methods => sub ($r) { $r->print( join '|', $r->method('POST'), $r->method_number, $r->method_number(2), $r->method, $r->method_number ); return },
    numbers => sub ($r) { $r->method_number(1); $r->print( join '|', $r->method, $r->method_number ); return },
    # mod_perl_api.pod, "Why does the server hang when I try to read a FORM?": example; in Cameleer the read does not
    # hang
    form => sub ($r) {
        my @content = ( scalar $r->content, scalar $r->content );
        $r->method('GET');
        $r->method_number( Apache::Constants::M_GET() );
        $r->headers_in->unset('Content-length');
        require CGI;
        $r->print( join '|', map { $_ // 'undef' } @content, $r->method, $r->header_in('Content-Length') );
        return;
    },
    # perl_util.c, perl_sv_is_http_code: $@ may be a status; Changes 1.15: "on by default"
    die      => sub ($r) { die $r->args . "\n" },
    die_at   => sub ($r) { die 0 + $r->args },
    die_code => sub ($r) { $r->print('thrown away'); die Apache::Constants::FORBIDDEN() },
    die_text => sub ($r) { die "404 of them\n" },
    die_moved => sub ($r) { $r->header_out( Location => 'http://example.org/' ); die Apache::Constants::REDIRECT() },
    # Apache.xs, exit: perl_call_halt makes a status of it
    exit     => sub ($r) { $r->exit( $r->args ) },
    exit_plain => sub ($r) { Apache::exit(404) },
    exit_well  => sub ($r) { $r->print('said'); $r->exit; },
    exit_three => sub ($r) { $r->print('said'); $r->exit(3); },
    # mod_perl_cgi.pod: "Apache->exit(-2) should be used" to end the child after the request
    exit_child => sub ($r) { $r->print($$); Apache->exit(-2); },
);

package My::Cases { sub handler ($r) { $CASES{ $r->path_info =~ s{/}{}r }->($r); return 0 } }

# perl_util.c: in any phase
package My::Guard { sub handler ($r) { die $r->args if $r->args; return 0 } }

package main;
return 1 if TestServer::in_server();

use Test::More;

# mod_perl_api.pod, "Where can I find examples": example filter
my $filter = <<'PERL';
package FileFilter;
use strict;
use Apache::Constants ':common';
sub handler {
    my $r = shift;
    my $fileName = $r->filename;
    open(F,$fileName) or return NOT_FOUND; # file not found
    $r->content_type('text/html');
    $r->no_cache(1);              # don't be caching my dynamic documents!
    $r->send_http_header;
    $r->print("<HEAD>");
    while(<F>) {
        $r->print ($_);
    }
    close(F);
    $r->print("</BODY>");
    OK;
}
1;
PERL

# mod_perl_tuning.pod, SQUID ACCELERATOR: example handler
my $squid = <<'PERL';
use Apache::Constants qw(OK);
sub My::SquidRemoteAddr ($) {
    my $r = shift;
    if (my ($ip) = $r->header_in('X-Forwarded-For') =~ /([^,\s]+)$/) {
        $r->connection->remote_ip($ip);
    }
    return OK;
}
1;
PERL

my $server = TestServer->spawn( <<'CONF',
ErrorDocument 403 "no entry
ErrorDocument 404 /perl/errors/err404-01
LogFormat "%h %s %U" short
CustomLog access.log short
PerlRequire lib/squid.pl
PerlRequire lib/filter.pl
PerlPostReadRequestHandler My::SquidRemoteAddr
<Location /u>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
<Location /guarded>
    PerlAccessHandler My::Guard
</Location>
Alias /perl/ @ROOT@/perl/
<Location /perl>
    SetHandler perl-script
    PerlHandler Apache::Registry::handler
    Options ExecCGI
</Location>
<Files *.baz>
    SetHandler  perl-script
    PerlHandler FileFilter
</Files>
# mod_perl_tuning.pod, BASIC CONFIGURATION
<Files *.perl>
    SetHandler perl-script
    PerlHandler Apache::Registry
    PerlSendHeader On
    Options +ExecCGI
</Files>
<Files *.rperl>
    SetHandler perl-script
    PerlHandler Apache::Registry
    PerlSendHeader Off
    Options +ExecCGI
</Files>
CONF
    'lib/squid.pl' => $squid, 'lib/filter.pl' => $filter,
    'some/page.baz' => 'of a file',
    'guarded/page.html' => 'a page',
    'some/where.perl'  => q{print "Content-type: text/html\n\n"; print "$ENV{GATEWAY_INTERFACE} $ENV{REMOTE_ADDR}";},
    'some/where.rperl' => q{my $r = shift; $r->send_http_header('text/x-own'); print "by hand";},
    # mod_perl_faq.pod, "how do I use mod_perl in conjunction with ErrorDocument?"
    'perl/errors/err404-01' => q{my $r = Apache->request; $r->content_type('text/html; charset=ISO-8859-1'); $r->send_http_header; $r->status(200); print 'my own page';},
    'perl/dies.pl'    => 'print "thrown away"; die 403;',
    'perl/exits.pl'   => 'exit 403;',
    # mod_perl_cgi.pod, "The script runs but the headers are mangled": the case that does not work in mod_perl
    'some/split.perl' => q{print "Content-type: text/html\n"; print "Set-Cookie: iscookietext\; "; print "path=\/\; domain=\.mmyserver.com\; \n\n"; print "hello";},
);

sub is_answered ( $path, $expected, $what ) {
    my $answer = $server->get($path);
    is "$answer->{status} $answer->{content}", $expected, $what;
    return $answer;
}

is_answered( '/u/print_ref', "200 text|text|text|text-b\ntext|text|\n\xe9\n42", 'Apache.pm: print of a reference to a text' );
like $server->get('/u/print_other')->{content}, qr/\AARRAY\(0x\w+\)\|Some::Class=SCALAR\(0x\w+\)\|REF\(0x\w+\)\|CODE\(0x\w+\)\|\*main::STDOUT\|SCALAR\(0x\w+\)\z/,
    'and of other things, and to other handles';
is_answered( '/u/methods', '200 GET|0|0|POST|2', 'Apache.xs: method does not change method_number' );
is_answered( '/u/numbers', '200 GET|1', 'Apache.xs: method_number does not change method' );
is $server->post( '/u/form', 'a=1' )->{content}, 'a=1||GET|undef', 'mod_perl_api.pod: a form that was read';

is_answered( '/u/die?403', '403 no entry', 'perl_util.c: a status and a newline' );
is_answered( '/u/die_at?404', '404 my own page', 'perl_util.c: a status with the place added by die' );
is_answered( '/u/die_code', '403 no entry', 'Changes: "modules can die AUTH_REQUIRED"' );
is $server->get('/u/die_text')->{status}, 500, 'perl_util.c: a text that only begins with a status is an error';
is $server->get('/u/die?200')->{status},  500, 'a status of success is no way to die';
is $server->get('/u/die?503')->{status},  503, 'perl_util.c: any error';
is join( ' ', $server->get('/u/die_moved')->{status}, $server->get('/u/die_moved')->{headers}{location} ), '302 http://example.org/', 'perl_util.c: a redirection';
unlike $server->log, qr/^.*error.* 40[34]\b.*line \d+/m, 'perl_util.c: a death with a status is no error in the log';
like $server->log,   qr/404 of them/, 'other deaths are errors in the log';
is_answered( '/u/exit?403', '403 no entry', 'Apache.xs: $r->exit with a status' );
is_answered( '/u/exit_plain', '404 my own page', 'Apache.xs: Apache::exit with a status' );
is_answered( '/u/exit_well',  '200 said', 'Apache.xs: without one' );
is_answered( '/u/exit_three', '200 said', 'Apache.xs: with an invalid value' );
is_answered( '/perl/dies.pl',  '403 no entry', 'mod_perl.c: a script of Apache::Registry that dies with a status' );
is_answered( '/perl/exits.pl', '403 no entry', 'a handler that exits with a status' );
is_answered( '/guarded/page.html',     '200 a page', 'a phase that lets in' );
is_answered( '/guarded/page.html?403', '403 no entry', 'perl_util.c: in any phase' );
my $child = $server->get('/u/exit_child')->{content};
ok $server->wait_for( 'its end', sub { !kill 0, $child } ), 'mod_perl_cgi.pod: exit(-2) ends the child';

my $missing = is_answered( '/none.html', '404 my own page', 'mod_perl_faq.pod: the page of an ErrorDocument has the status of the error' );
is $missing->{headers}{'content-type'}, 'text/html; charset=ISO-8859-1', 'the type set by the handler';
is_answered( '/some/page.baz', '200 <HEAD>of a file</BODY>', 'mod_perl_api.pod: the filter' );
is $server->get( '/some/where.perl', 'X-Forwarded-For' => '192.0.2.1, 192.0.2.7' )->{content}, 'CGI-Perl/1.1 192.0.2.7',
    'mod_perl_tuning.pod: *.perl, and the address of X-Forwarded-For';
ok $server->wait_for( 'the log', sub { $server->slurp('access.log') =~ m{^192\.0\.2\.7 200 /some/where\.perl$}m } ),
    'mod_perl_tuning.pod: "trick Apache into logging the real client address"';
my $own = is_answered( '/some/where.rperl', '200 by hand', 'mod_perl_tuning.pod: *.rperl' );
is $own->{headers}{'content-type'}, 'text/x-own', 'a script that sends its header itself';
my $split = is_answered( '/some/split.perl', '200 hello', 'mod_perl_cgi.pod: a header in pieces' );
is $split->{headers}{'set-cookie'}, 'iscookietext; path=/; domain=.mmyserver.com;', 'the whole cookie';

done_testing;
