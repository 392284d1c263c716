# Apache::CmdParms: the context of a directive that a Perl module defines.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

package My::Paint {
    sub paint {
        my ( $config, $parms, @words ) = @_;
        my $command = $parms->cmd;
        die "no pink here\n" if $words[0] eq 'pink';
        $config->{paint} = join '|', ref $parms, $parms->path // '', $parms->info, ref $parms->server, $parms->limited,
            $parms->override > 0 ? 'override' : 'none', $command->name, $command->errmsg, $command->args_how, $command->req_override, @words;
        return;
    }

    sub palette {
        my ( $config, $parms, $rest ) = @_;
        $parms->getline( my $line ) or die "no lines\n";
        my @seen = ( $rest, $line, $parms->GETC . $parms->GETC, $parms->READLINE );
        push @seen, $line while $parms->getline($line);
        $config->{palette} = join '|', map { s/\A\s+|\s+\z//gr } @seen, $parms->getline || 'the end', $parms->GETC // 'undef', $parms->READLINE // 'undef';
        return;
    }

    sub lines {
        my ( $config, $parms, $rest, $handle ) = @_;
        $config->{lines} = join '|', map { s/\A\s+|\s+\z//gr } <$handle>;
        return;
    }

    sub handler ($r) {
        my $config = Apache::ModuleConfig->get($r);
        $r->print( $config->{ $r->path_info =~ s{/}{}r } // 'none' );
        return 0;
    }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::ExtUtils;
    require Apache::ModuleConfig;
    no feature 'signatures';
    no strict 'refs';
    *{'My::Paint::with_handle'} = sub ($$$;*) { My::Paint::lines(@_) };
    Apache::ExtUtils::command_table(
        'My::Paint',
        [
            { name => 'Paint',    func => 'paint',       args_how => 'TAKE12', errmsg => 'a color and perhaps a tool', cmd_data => 'data', req_override => 'OR_ALL' },
            { name => '<Palette', func => 'palette',     args_how => 'RAW_ARGS' },
            { name => '<Lines',   func => 'with_handle', args_how => 'RAW_ARGS' },
        ]
    );
    return 1;
}

use Test::More;

my $server = TestServer->spawn(<<'CONF');
<Location /p>
    SetHandler perl-script
    PerlHandler My::Paint
    Paint red brush
    <Palette wide>
one
two
three
four
    </Palette>
    <Lines>
        first
        second
    </Lines>
</Location>
CONF

is $server->get('/p/paint')->{content},
    'Apache::CmdParms|/p|data|Apache::Server|-1|override|Paint|a color and perhaps a tool|TAKE12|31|red|brush', 'info, path, server, override, limited and cmd';
is $server->get('/p/palette')->{content}, 'wide>|one|tw|o|three|four|</Palette>|the end|undef|undef', 'getline, GETC and READLINE go on where the other stopped';
is $server->get('/p/lines')->{content}, 'first|second|</Lines>', 'a sub with the prototype $$$;* reads lines from a handle';

my %MISTAKES = (
    'Paint a b c' => qr/site\.conf:\d+: .*a color and perhaps a tool, got 3/,
    'Paint pink'  => qr/site\.conf:\d+: .*no pink here/,
    'Paint'       => qr/site\.conf:\d+: .*a color and perhaps a tool, got 0/,
    "<Palette x>\n</Palette>" => qr/site\.conf:\d+: .*no lines/,
);
like +TestServer->check("<Location /p>\n$_\n</Location>\n"), $MISTAKES{$_}, s/\n.*//sr for sort keys %MISTAKES;

done_testing;
