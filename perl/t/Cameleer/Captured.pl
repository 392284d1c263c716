# Cameleer::Captured: captures what code writes to stderr; run by packages.t

use v5.36;
use POSIX ();

sub My::Captured::descriptors { opendir my $folder, '/proc/self/fd' or die $!; return scalar( () = readdir $folder ) }

return {
    stderr_of_returns_the_text      => [ sub ($r) { Cameleer::Captured::stderr_of( sub { POSIX::write( 2, 'a text', 6 ) } ) }, 'a text' ],
    quiet_code_gives_no_text        => [ sub ($r) { '[' . Cameleer::Captured::stderr_of( sub { 1 } ) . ']' }, '[]' ],
    a_die_restores_stderr           => [ sub ($r) { eval { Cameleer::Captured::stderr_of( sub { die "inside\n" } ) }; my $why = $@; $why . Cameleer::Captured::stderr_of( sub { POSIX::write( 2, 'later', 5 ) } ) }, "inside\nlater" ],
    a_nested_call_gets_its_own_text => [ sub ($r) { my $inner; Cameleer::Captured::stderr_of( sub { POSIX::write( 2, 'a', 1 ); $inner = Cameleer::Captured::stderr_of( sub { POSIX::write( 2, 'b', 1 ) } ); POSIX::write( 2, 'c', 1 ) } ) . $inner }, 'acb' ],
    a_die_leaves_no_descriptor_open => [ sub ($r) { my $before = My::Captured::descriptors(); eval { Cameleer::Captured::stderr_of( sub { die } ) } for 1 .. 20; My::Captured::descriptors() - $before }, '0' ],
    leaks_nothing                   => [ sub ($r) { TestServer::growth( sub { Cameleer::Captured::stderr_of( sub { 1 } ) } ) }, 'steady' ],
};
