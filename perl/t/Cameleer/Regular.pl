# Cameleer::Regular: reads regular files, and refuses everything else; run by packages.t

use v5.36;
use POSIX ();

sub My::Regular::of ($path) { my $handle = Cameleer::Regular::opened($path) or return "$!"; local $/ = undef; return <$handle> }

return {
    a_regular_file_is_read     => [ sub ($r) { My::Regular::of( TestServer::own_file('page.txt') ) }, "a page\n" ],
    a_missing_file_is_an_error => [ sub ($r) { My::Regular::of('/no/such') }, 'No such file or directory' ],
    a_folder_is_refused        => [ sub ($r) { My::Regular::of('/tmp') }, 'Is a directory' ],
    a_device_is_refused        => [ sub ($r) { My::Regular::of('/dev/zero') }, 'Invalid argument' ],
    a_pipe_is_refused          => [ sub ($r) { my $path = TestServer::own_file('regular.pipe'); POSIX::mkfifo( $path, 0700 ); My::Regular::of($path) }, 'Invalid argument' ],
    leaks_nothing              => [ sub ($r) { TestServer::growth( sub { My::Regular::of('/tmp'); My::Regular::of( TestServer::own_file('page.txt') ) } ) }, 'steady' ],
};
