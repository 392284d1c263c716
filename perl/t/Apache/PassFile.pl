# Apache::PassFile: sends regular files in pieces, and nothing else; run by packages.t

use v5.36;
use POSIX ();

sub My::Passed::of ( $r, $path ) { $r->filename($path); return Apache::PassFile::handler($r) || '' }

return {
    handler_sends_the_file              => [ sub ($r) { My::Passed::of( $r, "$ENV{TEST_FOLDER}/page.txt" ) }, "a page\n" ],
    a_small_buffer_sends_the_whole_file => [ sub ($r) { local $Apache::PassFile::BUFFERSIZE = 2; My::Passed::of( $r, "$ENV{TEST_FOLDER}/page.txt" ) }, "a page\n" ],
    a_missing_file_is_a_404             => [ sub ($r) { My::Passed::of( $r, "$ENV{TEST_FOLDER}/none.txt" ) }, '404' ],
    a_folder_is_declined                => [ sub ($r) { My::Passed::of( $r, "$ENV{TEST_FOLDER}/perl" ) }, '-1' ],
    a_pipe_is_a_403                     => [ sub ($r) { my $path = TestServer::own_file('passed.pipe'); POSIX::mkfifo( $path, 0700 ) or die "$path: $!"; My::Passed::of( $r, $path ) }, '403' ],
};
