# Apache::PerlSections: the variables of <Perl> sections as Perl code, in the server and in a file.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

# The value of a variable after the dump was read back into a package of its own.
sub back ( $dump, $expression ) {
    my $package = 'My::Back' . ++( state $number );
    my $text    = $dump =~ s/\Apackage Apache::ReadConfig;/package $package;/r =~ s/^__END__\n//mr;
    return eval "no strict; no warnings; $text; package $package; $expression" // "died: $@";    ## no critic: the dump is code
}

package My::Dumps {
    my %ANSWERS = (
        dump   => sub { Apache::PerlSections->dump },
        method => sub { Apache::PerlSections->dump eq Apache::PerlSections::dump('Apache::PerlSections') ? 'the same' : 'another' },
        twice  => sub { Apache::PerlSections->dump eq Apache::PerlSections->dump ? 'the same' : 'another' },
        stored => sub {
            Apache::PerlSections->store('again.pl');
            open my $in, '<', Apache->server_root_relative('again.pl') or return "$!";
            local $/ = undef;
            return <$in> eq Apache::PerlSections->dump ? 'the same' : 'another';
        },
        wrong  => sub { eval { Apache::PerlSections->store('no/such/folder.pl') }; $@ =~ s{ \S+/no/}{ no/}r },
        folder => sub { eval { Apache::PerlSections->store('/') }; $@ },
        undef  => sub { no warnings 'once'; local $Apache::ReadConfig::Unset = undef; Apache::PerlSections->dump =~ /Unset/ ? 'dumped' : 'left out' },
        grows  => sub { TestServer::growth( sub { Apache::PerlSections->dump } ) },
    );
    sub handler ($r) { $r->print( $ANSWERS{ $r->path_info =~ s{/}{}r }->() ); return 0 }
}

package main;
if ( TestServer::in_server() ) {
    require Apache::PerlSections;
    return 1;
}

use Test::More;

my $CONF = <<'CONF';
<Perl>
$Apache::Server::SaveConfig = 1;
$MaxRequestsPerChild = 1000;
$ServerSignature = 'Off';
@Alias = ( [ '/pics/', '@ROOT@/pics/' ], [ '/texts/', '@ROOT@/texts/' ] );
$Location{'/dumps'} = { SetHandler => 'perl-script', PerlHandler => 'My::Dumps', PerlSetVar => [ [ quoted => q{it's "so" $x @y} ], [ empty => '' ] ] };
$Own = "a\nb\0c";
Apache::PerlSections->store('stored.pl');
</Perl>
CONF
my $server = TestServer->spawn($CONF);
my $dump   = $server->get('/dumps/dump')->{content};

like $dump, qr/\Apackage Apache::ReadConfig;\n#scalars:\n.*^#arrays:\n.*^#hashes:\n.*^1;\n__END__\n\z/ms, 'the dump is a file for do';
is back( $dump, '$MaxRequestsPerChild' ), 1000, 'a scalar comes back';
is back( $dump, 'join "|", map { "@$_" } @Alias' ), "/pics/ $server->{dir}/pics/|/texts/ $server->{dir}/texts/", 'lists of lists come back';
is back( $dump, '$Location{"/dumps"}{PerlSetVar}[0][1]' ), q{it's "so" $x @y}, 'quotation marks and signs are data';
is back( $dump, '$Own' ), "a\nb\0c", 'ends of lines and zero bytes come back';
is $server->get('/dumps/method')->{content}, 'the same', 'dump is a method and a function';
is $server->get('/dumps/twice')->{content},  'the same', 'a dump changes nothing';
is $server->slurp('stored.pl'), $dump, 'store writes the dump below ServerRoot';
is $server->get('/dumps/stored')->{content}, 'the same', 'a worker can store as well, over an older file';
is $server->get('/dumps/undef')->{content},  'left out', 'a scalar without a value is left out';
is $server->get('/dumps/wrong')->{content}, "Apache::PerlSections: cannot write no/such/folder.pl: No such file or directory\n", 'store dies where there is no folder';
is $server->get('/dumps/folder')->{content}, "Apache::PerlSections: cannot write /: Is a directory\n", 'store dies for a folder';
is $server->get('/dumps/grows')->{content}, 'steady', '1,000 dumps leave nothing in memory';

# Another server's section reads the stored configuration back.
my $second = TestServer->spawn( "<Perl>\ndo '\@ROOT\@/saved.pl' or die \$@ || \$!;\n</Perl>\n", 'saved.pl' => $dump =~ s/\Q$server->{dir}\E/\/srv/gr );
is $second->get('/dumps/dump')->{content}, "package Apache::ReadConfig;\n#scalars:\n#arrays:\n#hashes:\n1;\n__END__\n",
    'the stored file configures another server, where nothing is left to dump without SaveConfig';

like +TestServer->check("<Perl>\nrequire Apache::PerlSections;\nApache::PerlSections->store('/no/such/file.pl');\n</Perl>\n"),
    qr{site\.conf:\d+: <Perl>: Apache::PerlSections: cannot write /no/such/file\.pl: No such file or directory}, 'a section that cannot store is named with its line';

done_testing;
