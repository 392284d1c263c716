# Cameleer::Forked: prepares a script for a fork, and restores the state of the process; run by packages.t

use v5.36;

sub My::Forked::prepared ($text) {
    my $file = TestServer::own_file( 'forked.pl', $text );
    return Cameleer::Forked::prepare( join "\0", $file, 'A=1' );
}

return {
    the_switches_of_the_first_line_are_known        => [ sub ($r) { join '|', map { Cameleer::Forked::switches($_) // 'undef' } '/usr/bin/perl', '/usr/bin/perl -w -I/x', '/usr/bin/perl -T', '/bin/sh' }, '| -w -I/x|undef|undef' ],
    a_missing_file_is_not_prepared                  => [ sub ($r) { join '|', Cameleer::Forked::stamp('/no/such') // 'undef', Cameleer::Forked::prepare("/no/such\0A=1") }, 'undef|no' ],
    a_script_is_prepared                            => [ sub ($r) { My::Forked::prepared("#!/usr/bin/perl\nprint 1;\n") }, TestServer::is_tainted() ? 'no' : 'yes' ],
    a_syntax_error_is_not_prepared                  => [ sub ($r) { My::Forked::prepared("#!/usr/bin/perl\n1 +;\n# 2\n") }, 'no' ],
    a_script_that_prints_in_begin_is_not_prepared   => [ sub ($r) { My::Forked::prepared("#!/usr/bin/perl\nBEGIN { print 'early' }\n") }, 'no' ],
    a_script_without_a_first_line_dies_by_its_error => [ sub ($r) { eval { My::Forked::prepared("1 +;\n# without a first line\n") }; $@ }, TestServer::is_tainted() ? '' : qr/\Asyntax error at \S+forked\.pl line 1/ ],
    restore_resets_variables_and_handlers           => [ sub ($r) { my $state = Cameleer::Forked::snapshot(); local @INC = '/x'; local $, = '-'; local $SIG{USR1} = 'IGNORE'; Cameleer::Forked::restore($state); join '|', scalar( grep { $_ eq '/x' } @INC ), $, // 'undef', $SIG{USR1} // 'none' }, qr/\A0\|undef\|/ ],
    preparing_leaves_the_environment_unchanged      => [ sub ($r) { my $before = join ',', map {"$_=$ENV{$_}"} sort keys %ENV; My::Forked::prepared("#!/usr/bin/perl\n# 3\nBEGIN { \$ENV{B} = 2 }\n"); $before eq join( ',', map {"$_=$ENV{$_}"} sort keys %ENV ) ? 'same' : 'other' }, 'same' ],
};
