# Apache::ExtUtils: a table of directives, whose numbers of arguments follow from args_how or from prototypes.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

package My::Table {
    no feature 'signatures';
    no warnings 'illegalproto';
    our @ROWS = qw(None One Two OneOrTwo Three TwoOrThree UpToThree Each Pairs Free);
    sub note { my ( $config, $parms, @words ) = @_; push @{ $config->{ $parms->cmd->name } }, join '+', @words }
    sub None       ($$)     { note(@_) }
    sub One        ($$$)    { note(@_) }
    sub Two        ($$$$)   { note(@_) }
    sub OneOrTwo   ($$$;$)  { note(@_) }
    sub Three      ($$$$$)  { note(@_) }
    sub TwoOrThree ($$$$;$) { note(@_) }
    sub UpToThree  ($$$;$$) { note(@_) }
    sub Each       ($$@)    { note(@_) }
    sub Pairs      ($$@;@)  { note(@_) }
    sub Free                { note(@_) }

    sub handler {
        my $r      = shift;
        my $config = Apache::ModuleConfig->get($r);
        $r->print( join "\n", map {"$_ @{ $config->{$_} // ['unset'] }"} @ROWS );
        return 0;
    }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::ExtUtils;
    require Apache::ModuleConfig;
    package My::Table { Apache::ExtUtils->import('command_table'); command_table( [ map { $_ eq 'One' ? [ One => 'one word' ] : $_ } our @ROWS ] ) }
    Apache::ExtUtils::command_table( 'My::Table', [ { name => 'Odd', func => 'none_such' }, { name => 'Switched', func => 'note', args_how => 5 } ] );
    return 1;
}

use Test::More;

my $server = TestServer->spawn(<<'CONF');
<Location /t>
    SetHandler perl-script
    PerlHandler My::Table
    None
    One a
    Two a b
    OneOrTwo a
    Three a b c
    TwoOrThree a b
    UpToThree a
    Each a b c
    Pairs a b c
    Free "a b"
    OneOrTwo a b
</Location>
CONF

is $server->get('/t')->{content}, <<'END' =~ s/\n\z//r, 'each prototype takes its number of arguments';
None 
One a
Two a+b
OneOrTwo a a+b
Three a+b+c
TwoOrThree a+b
UpToThree a
Each a b c
Pairs a+b a+c
Free a b
END

my %MISTAKES = (
    'None a'        => qr/site\.conf:\d+: .*None: expected arguments: none, got 1/,
    'One a b'       => qr/site\.conf:\d+: .*One: one word, got 2/,
    'Two a'         => qr/site\.conf:\d+: .*Two: expected arguments: 2, got 1/,
    'UpToThree a b c d' => qr/site\.conf:\d+: .*expected arguments: 1, 2 or 3, got 4/,
    'Pairs a'       => qr/site\.conf:\d+: .*expected arguments: 2 or more, got 1/,
    'Odd a'         => qr/site\.conf:\d+: .*Odd: there is no sub My::Table::none_such/,
    'Switched perhaps' => qr/site\.conf:\d+: .*Switched: expected On or Off, got "perhaps"/,
);
like +TestServer->check("<Location /t>\n$_\n</Location>\n"), $MISTAKES{$_}, $_ for sort keys %MISTAKES;

done_testing;
