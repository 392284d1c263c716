# Apache::DProf: a profile of each worker in a folder of its own, written when the worker ends.

use v5.36;
use lib __FILE__ =~ s{[^/]+/[^/]+\z}{lib}r;
use TestServer;

TestServer::in_server() and return 1;

use Test::More;

my $WORK = 'package My::Work; sub handler { my $r = shift; slow() for 1 .. 3; $r->print($$); 0 } sub slow { my $n = 0; $n += $_ for 1 .. 100; $n } 1;';
for my $path ( '', 'PerlSetEnv APACHE_DPROF_PATH profiles' ) {
    my $server = TestServer->prepare( <<"CONF", 'lib/My/Work.pm' => $WORK, 'logs/dprof/x' => '', 'profiles/x' => '' );
$path
PerlLib lib
PerlModule Apache::DProf My::Work
<Location /work>
    SetHandler perl-script
    PerlHandler My::Work
</Location>
CONF
    chmod 0777, map {"$server->{dir}/$_"} qw(logs/dprof profiles);
    $server->start;
    my $folder = $path ? 'profiles' : 'logs/dprof';
    my $pid    = $server->get('/work')->{content};
    kill TERM => $server->{pid};
    waitpid $server->{pid}, 0;
    $server->{gone} = 1;
    like $server->slurp("$folder/$pid/tmon.out"), qr/My::Work.*slow|slow.*My::Work/s, "the worker has written its profile to $folder";
}

done_testing;
