# Apache::SubProcess: runs code and programs with pipes to their streams; run by packages.t

use v5.36;

sub My::Child::read_from ($handle) { local $/ = undef; return scalar(<$handle>) // '' }

return {
    spawn_child_runs_code_with_its_words => [ sub ($r) { '[' . My::Child::read_from( scalar $r->spawn_child( sub ( $r, @words ) { print "@words" }, 1, 2 ) ) . ']' }, '[1 2]' ],
    a_die_ends_the_child_only            => [ sub ($r) { '[' . My::Child::read_from( scalar $r->spawn_child( sub { print 'begun'; die "in the child\n" } ) ) . ']' }, '[begun]' ],
    a_missing_program_gives_no_output    => [ sub ($r) { '[' . My::Child::read_from( scalar $r->spawn_child( sub ($r) { $r->call_exec('/no/such') } ) ) . ']' }, '[]' ],
    spawn_child_gives_three_streams      => [
        sub ($r) {
            my ( $to, $from, $errors ) = $r->spawn_child( sub { my $line = <STDIN>; print uc $line; print STDERR 'oops' } );
            print {$to} "line\n";
            close $to;
            My::Child::read_from($from) . My::Child::read_from($errors);
        },
        "LINE\noops",
    ],
    a_failed_exec_continues              => [ sub ($r) { local $ENV{PATH} = '/bin:/usr/bin'; no warnings; Apache::SubProcess::exec('/no/such'); 'continues' }, 'continues' ],
    system_returns_the_exit_status       => [ sub ($r) { local $ENV{PATH} = '/bin:/usr/bin'; Apache::SubProcess->system( '/bin/sh', '-c', 'exit 3' ) >> 8 }, '3' ],
    words_drops_class_and_request        => [ sub ($r) { join '|', Apache::SubProcess::words( 'Apache::SubProcess', 'a', 1 ), Apache::SubProcess::words( $r, 'b' ), Apache::SubProcess::words('c') }, 'a|1|b|c' ],
    fork_returns_in_the_child            => [ sub ($r) { my $pid = Apache::SubProcess::fork(); if ( !$pid ) { require POSIX; POSIX::_exit(5) } waitpid $pid, 0; $? >> 8 }, '5' ],
};
