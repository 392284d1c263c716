# Cameleer::StartUp: preloads scripts, and finds folders and descriptors of start-up code; run by packages.t

use v5.36;
use IO::Socket::INET ();

return {
    folders_skips_code_in_inc        => [ sub ($r) { local @INC = ( '/own', sub { }, $INC[-1] ); ( split /\0/, Cameleer::StartUp::folders() )[0] }, '/own' ],
    preload_script_compiles_a_script => [ sub ($r) { my $path = TestServer::own_file( 'preloaded.pl', 'print 1' ); chmod 0755, $path; '[' . Cameleer::StartUp::preload_script("/preloaded.pl\0$path") . ']' }, '[]' ],
    a_syntax_error_is_reported       => [ sub ($r) { my $path = TestServer::own_file( 'broken.pl', "\n1 +;" ); chmod 0755, $path; Cameleer::StartUp::preload_script("/broken.pl\0$path") }, qr/syntax error at \S+broken\.pl line 2/ ],
    a_missing_script_is_reported     => [ sub ($r) { Cameleer::StartUp::preload_script("/none.pl\0/no/such.pl") ? 'said' : 'silent' }, 'said' ],
    peers_lists_open_connections     => [
        sub ($r) {
            my $server = IO::Socket::INET->new( Listen => 1, LocalAddr => '127.0.0.1' ) or die $!;
            my $client = IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $server->sockport ) or die $!;
            join '|', map { Cameleer::StartUp::_peer($_) // 'none' } 0 + fileno $server, 0 + fileno $client;
        },
        qr/\Anone\|127\.0\.0\.1:\d+\z/,
    ],
    only_reads_knows_the_direction   => [ sub ($r) { open my $in, '<', '/dev/null' or die $!; open my $out, '>', '/dev/null' or die $!; join '|', map { Cameleer::StartUp::_only_reads( fileno $_ ) ? 'reads' : 'writes' } $in, $out }, 'reads|writes' ],
    warm_up_sets_its_variable        => [ sub ($r) { Cameleer::StartUp::begin_warm_up(); my $during = $ENV{CAMELEER_WARMUP}; Cameleer::StartUp::end_warm_up(); $during . ( exists $ENV{CAMELEER_WARMUP} ? 'left' : 'gone' ) }, '1gone' ],
    descriptors_leaves_none_open     => [ sub ($r) { my $before = () = Cameleer::StartUp::_descriptors(); Cameleer::StartUp::_descriptors() for 1 .. 10; ( () = Cameleer::StartUp::_descriptors() ) - $before }, '0' ],
};
