# The examples of mod_perl.pod (mod_perl 1.31), unchanged.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

# STACKED HANDLERS: "This was my first test"
package My {
    sub header ($r) {
        $r->content_type("text/plain");
        $r->send_http_header;
        $r->print("header text\n");
        return;
    }
    sub body   { shift->print("body text\n") }
    sub footer { shift->print("footer text\n") }
}

# STACKED HANDLERS: "Parsing the output of another PerlHandler?"
package OutputParser {
    sub handler {
        my $r = shift;
        untie *STDOUT;
        tie *STDOUT => 'OutputParser', $r;
    }
    sub TIEHANDLE { my ( $class, $r ) = @_; bless { r => $r }, $class }
    sub PRINT { my $self = shift; $self->{r}->print( $_ . "[insert stuff]" ) for @_ }
}
package SomeApp { sub handler { print 'an ', 'app'; return 0 } }

# STACKED HANDLERS: Apache->push_handlers with a reference and with a name
package My::Pushing {
    sub first_one ($r) { $r->warn( 'first_one for ' . $r->uri ); return 0 }
    sub handler ($r) {
        Apache->push_handlers( "PerlLogHandler", \&first_one );
        $r->push_handlers( "PerlLogHandler", sub { print STDERR "__ANON__ called\n"; return 0 } );
        Apache->push_handlers( "PerlCleanupHandler", 'My::Pushing::by_name' );
        $r->print( Apache->can_stack_handlers ? 'stacked' : 'not' );
        return 0;
    }
    sub by_name ($r) { $r->warn('called by its name'); return 0 }
    sub quiet ($r) { $r->print('quiet'); return 0 }
}

# ENVIRONMENT: variables of PerlSetEnv are set before the response phase
package My::Early {
    sub handler ($r) { $r->notes( early => join '|', map { $_ // 'undef' } @ENV{qw(SomeKey MOD_PERL)} ); return 0 }
    sub show ($r) { $r->print( $r->notes('early') . "|$ENV{SomeKey}|" . ( exists $ENV{REQUEST_METHOD} ? 'CGI' : 'none' ) ); return 0 }
}

package main;
no warnings 'once';
return 1 if TestServer::in_server();

use Test::More;

my $server = TestServer->spawn( <<'CONF', 'docs/page.txt' => 'page', 'passwords' => "dougm:" . crypt( 'secret', 'ab' ) . "\n" );
PerlModule Apache::Constants
<Location /foo>
    SetHandler "perl-script"
    PerlHandler My::header My::body My::footer
</Location>
<Location /parsed>
    SetHandler "perl-script"
    PerlHandler OutputParser SomeApp
</Location>
<Location /pushing>
    SetHandler perl-script
    PerlHandler My::Pushing
</Location>
<Location /quiet>
    SetHandler perl-script
    PerlHandler My::Pushing::quiet
</Location>
<Location /early>
    SetHandler perl-script
    PerlSetEnv  SomeKey  SomeValue
    PerlHeaderParserHandler My::Early
    PerlHandler My::Early::show
</Location>
<Perl>
#!perl
# PERL SECTIONS: examples
@PerlModule = qw(Mail::Send Devel::Peek);
$ServerAdmin = getpwuid($>) || $>;
$Location{"/docs/"} = {
    AuthUserFile => '@ROOT@/passwords',
    AuthType => 'Basic',
    AuthName => 'test',
    DirectoryIndex => [qw(index.html index.htm)],
    Limit => {
        METHODS => 'GET POST',
        require => 'user dougm',
    },
};
push @Redirect, "/far", "http://www.foo.com/";
push @Redirect, "/imdb", "http://www.imdb.com/";
push @Redirect, [qw(temp /here http://www.there.com)];
__END__
</Perl>
CONF

sub text ($path) { return $server->get($path)->{content} }

is text('/foo'), "header text\nbody text\nfooter text\n", 'mod_perl.pod, STACKED HANDLERS: piecing together a document';
is text('/parsed'), 'an [insert stuff]app[insert stuff]', 'mod_perl.pod, STACKED HANDLERS: the output of another';
is text('/pushing'), 'stacked', 'mod_perl.pod, STACKED HANDLERS: can_stack_handlers';
is text('/quiet'), 'quiet';
ok $server->wait_for( 'the cleanup', sub { $server->log =~ /called by its name/ } ), 'mod_perl.pod: a handler is pushed by its name';
is scalar( () = $server->log =~ m{first_one for /}g ), 1, 'mod_perl.pod: "After each request, this stack is cleared out"';
like $server->log, qr/__ANON__ called/, 'mod_perl.pod: and one of $r';
like text('/early/x'), qr{\ASomeValue\|mod_perl/1\.31\|SomeValue\|CGI\z}, 'mod_perl.pod, ENVIRONMENT: PerlSetEnv is there before the response';

is $server->get('/docs/page.txt')->{status}, 401, 'mod_perl.pod, PERL SECTIONS: Limit and require';
my $known = $server->client->get( $server->url('/docs/page.txt') =~ s{//}{//dougm:secret\@}r );
is "$known->{status} $known->{content}", '200 page', 'mod_perl.pod, PERL SECTIONS: users and groups';
is $server->get('/far')->{headers}{location}, 'http://www.foo.com/', 'mod_perl.pod, PERL SECTIONS: the lowest number of arguments is shifted off';
is $server->get('/here')->{headers}{location}, 'http://www.there.com', 'mod_perl.pod, PERL SECTIONS: or a reference to an array';
my $conf = "$server->{dir}/site.conf";
like qx{$^X -cx $conf 2>&1}, qr/syntax OK/, 'mod_perl.pod, PERL SECTIONS: perl -cx httpd.conf';

done_testing;
