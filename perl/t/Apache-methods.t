# Methods of 1.x that no other test calls by name: the tie's own, the END blocks of scripts, levels of the log.

use v5.36;
use lib __FILE__ =~ s{[^/]+\z}{lib}r;
use TestServer;

my %CASES = (
    input => sub ($r) {
        my $in    = Apache->TIEHANDLE($r);
        my $first = $in->GETC;
        my $line  = $in->READLINE;
        my $got   = $in->READ( my $part, 3 );
        join '|', ref $in, $first, $line =~ s/\n/N/r, $got, $part;
    },
    output => sub ($r) {
        my $out = Apache->TIEHANDLE($r);
        $out->PRINT( 'a', 'b' );
        $out->PRINTF( '%02d', 7 );
        $out->BINMODE;
        $out->WRITE( 'xyz', 2, 1 );
        my $number = $out->FILENO;
        my ($folder) = $ENV{TMPDIR} =~ /(.*)/s;
        $out->OPEN( '>', "$folder/reopened" );
        print STDOUT 'to the file';
        $out->CLOSE;
        "|$number";
    },
    address   => sub ($r) { $r->unparsed_uri },
    stacks    => sub ($r) { $r->can_stack_handlers },
    formatted => sub ($r) { $r->printf( '%s-%03d', 'n', 5 ); '' },
    encoding  => sub ($r) { my $was = $r->content_encoding('x-own'); ( $was // 'undef' ) . $r->content_encoding },
    levels    => sub ($r) {
        $r->log->$_("said as $_") for qw(emerg alert crit error warn notice info debug);
        $r->server->warn('said by the server');
        '';
    },
    blocks => sub ($r) {
        my ($folder) = $ENV{TMPDIR} =~ /(.*)/s;
        my ( $stashed, $cleared, $other ) = map {"$folder/$_.pl"} qw(stashed cleared other);
        for my $file ( $stashed, $cleared, $other ) {
            eval qq{#line 1 "$file"\nEND { Apache::log_error('END of $file') } 1} or die $@;    ## no critic: END blocks are text
        }
        $r->stash_rgy_endav($stashed);
        $r->clear_rgy_endav($cleared);
        $r->child_terminate;
        'both';
    },
    handler_of => sub ($r) { $r->internal_redirect_handler('/c/target?x'); return },
    target     => sub ($r) { join '|', $r->handler, $r->prev->uri, scalar $r->args },
    absent     => sub ($r) {
        my $why = eval { $r->translate_name; 1 } ? 'there' : $@ =~ /translate_name/ ? 'named' : $@;
        "$why " . $r->lookup_uri('/file.txt')->filename;
    },
);

package My::Cases {
    sub handler ($r) {
        my $text = $CASES{ $r->path_info =~ s{/}{}r }->($r) // return 0;
        $r->print($text);
        return 0;
    }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::PerlRun;
    return 1;
}

use Test::More;

my $server = TestServer->spawn( <<'CONF', 'file.txt' => 'x' );
LogLevel debug
PerlSetEnv TMPDIR @ROOT@
<Location /c>
    SetHandler perl-script
    PerlHandler My::Cases
</Location>
CONF

sub get ($name) { return $server->get("/c/$name") }

is $server->post( '/c/input', "xone\ntwothree" )->{content}, 'Apache|x|oneN|3|two', 'READ, READLINE and GETC of the tie';
is get('output')->{content}, 'ab07yz|1', 'PRINT, PRINTF, BINMODE, WRITE, OPEN, CLOSE and FILENO of the tie';
is get('address?a=%20')->{content}, '/c/address?a=%20', 'unparsed_uri';
is get('stacks')->{content}, 1, 'can_stack_handlers';
is get('formatted')->{content}, 'n-005', 'printf';
my $encoded = get('encoding');
is "$encoded->{content} $encoded->{headers}{'content-encoding'}", 'undefx-own x-own', 'content_encoding';
is get('handler_of')->{content}, 'perl-script|/c/handler_of|x', 'internal_redirect_handler takes the handler along';
is get('absent')->{content}, "there $server->{dir}/file.txt", 'translate_name returns a status, and lookup_uri finds the file';

is get('blocks')->{content}, 'both';
ok $server->wait_for( 'the END block that was left', sub { $server->log =~ m{END of \S+/other\.pl} } ), 'a worker runs END blocks at its end';
unlike $server->log, qr{END of \S+/stashed\.pl}, 'END blocks of stash_rgy_endav do not run at the worker\'s end';
unlike $server->log, qr{END of \S+/cleared\.pl}, 'END blocks dropped by clear_rgy_endav do not run';

get('levels');
like $server->log, qr/:$_\].*said as $_$/m, $_ for qw(emerg alert crit error warn notice info debug);
like $server->log, qr/:warn\].*said by the server$/m, 'a warning of the server';

done_testing;
