# The addresses of Apache::Status 2.04 (mod_perl 1.31, lib/Apache/Status.pm): bookmarks and other modules' links
# use them.

use v5.36;
use lib __FILE__ =~ s{(?:[^/]+/){2}[^/]+\z}{lib}r;
use TestServer;

package My::Values {
    our $text = 'a <text>';
    our @list = ( 1, 2 );
    our %hash = ( key => 'value' );
    sub add ( $left, $right ) { return $left + $right }
    sub typed : prototype($$) { return 1 }
}

package main;
no warnings 'once';
if ( TestServer::in_server() ) {
    $Apache::Server::SaveConfig = 1;
    require Apache::Status;
    Apache::Status->menu_item( mine => 'My page', sub ( $r, $q ) { [ 'asked for ', $q->param('x') ] } );
    return 1;
}

use Test::More;

my $place = "SetHandler perl-script\nPerlHandler Apache::Status\n";
my $server = TestServer->spawn( <<"CONF", 'lib/my/required.pl' => '1;' );
PerlModule B::TerseSize
PerlRequire \@ROOT\@/lib/my/required.pl
<Location /perl-status>
${place}PerlSetVar StatusOptionsAll On
</Location>
<Location /bare>
$place
</Location>
<Location /sized>
${place}PerlSetVar StatusPackageSize On
</Location>
CONF

sub page ( $path, $of = '/perl-status' ) { return $server->get("$of$path")->{content} }

# Address, text of the page, sub of Status.pm that makes the page
my @CASES = (
    [ '?My::Values',                                 qr/list/,                     'handler: ?Package::Name is its symbol table' ],
    [ '?main',                                       qr/<h2>main/,                 'status_symdump: of main' ],
    [ '/My::Values::text/SCALAR?data_dump',          qr/a &lt;text&gt;/,           'as_HTML: /name/SCALAR?data_dump' ],
    [ '/My::Values::list/ARRAY?data_dump',           qr/1,\s+2/,                   'as_HTML: /name/ARRAY?data_dump' ],
    [ '/My::Values::hash/HASH?data_dump',            qr/value/,                    'as_HTML: /name/HASH?data_dump' ],
    [ '/My::Values::add/FUNCTION?cv_dump',           qr/Package: My::Values\nLine: \d+\nPrototype: none\nXSUB: no/, 'status_cv_dump: /name/FUNCTION' ],
    [ '/My::Values::typed/CODE?cv_dump',             qr/Prototype: \$\$/,          'noh_b_terse_size links to /name/CODE?cv_dump' ],
    [ '/My::Values::text/SCALAR?noh_peek',           qr/SV = PV/,                  'noh_peek' ],
    [ '/My::Values::add/FUNCTION?noh_peek',          qr/SV = PVCV/,                'noh_peek of a sub' ],
    [ '/My::Values::add?noh_b_deparse',              qr/return \$left \+ \$right/, 'noh_b_deparse' ],
    [ '/My::Values::add?noh_b_lexinfo',              qr/\$left/,                   'noh_b_lexinfo' ],
    [ '/exec/My::Values::add?noh_b_terse',           qr/leavesub/,                 'noh_b_terse, execution order' ],
    [ '/slow/My::Values::add?noh_b_terse',           qr/leavesub/,                 'noh_b_terse, syntax order' ],
    [ '/slow/My::Values::add?noh_b_terse_size',      qr/bytes \| \d+ OPs/,         'noh_b_terse_size' ],
    [ '/My::Values?noh_b_package_size',              qr/Totals: \d+ bytes \| \d+ OPs.*^add/ms, 'noh_b_package_size' ],
    [ '?script',                                     qr{lib/my/required\.pl},      'status_script: PerlRequire\'d Files' ],
    [ '?section_config',                             qr/package Apache::ReadConfig/, 'status_section_config, with SaveConfig' ],
    [ '?mine&x=7',                                   qr/asked for 7/,              'menu_item: what other modules add' ],
    [ '?no_such_word',                               qr/\?inc">Loaded Modules/,    'handler: the menu for what nobody knows' ],
    [ '/My::Values::add?noh_b_graph',                qr/noh_b_graph is not a view/,    'noh_b_graph: there is none, and it says so' ],
);
my @answers = $server->get_each( map {"/perl-status$_->[0]"} @CASES );
like shift(@answers)->{content}, $_->[1], "Status.pm, $_->[2]" for @CASES;

# Status.pm, status_config: each view requires its own option
for my $what (qw(SCALAR?data_dump SCALAR?noh_peek)) {
    like page( "/My::Values::text/$what", '/bare' ), qr/Not allowed here/, "Status.pm, StatusDumper, StatusPeek: $what";
}
like page( '/My::Values?noh_b_package_size',     '/bare' ),  qr/Not allowed here/, 'Status.pm, StatusTerseSize';
like page( '/My::Values?noh_b_package_size',     '/sized' ), qr/Totals:/,          'Status.pm, b_package_size_link: StatusPackageSize';
like page( '/My::Values::add/FUNCTION?cv_dump',  '/bare' ),  qr/XSUB: no/,         'Status.pm, status_cv_dump needs no option';
like page( '',                                   '/bare' ),  qr/Perl version/,     't/modules/status.t: "Perl version" on every page';

done_testing;
