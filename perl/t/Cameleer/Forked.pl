# Cameleer::Forked: prepares a script for a fork, and restores the state of the process; run by packages.t

use v5.36;

sub My::Forked::prepared ($text) {
    my $file = TestServer::own_file( 'forked.pl', $text );
    return Cameleer::Forked::prepare( join "\0", $file, 'A=1' );
}

return {
    switches                       => [ sub ($r) { join '|', map { Cameleer::Forked::switches($_) // 'undef' } '/usr/bin/perl', '/usr/bin/perl -w -I/x', '/usr/bin/perl -T', '/bin/sh' }, '| -w -I/x|undef|undef' ],
    no_file                        => [ sub ($r) { join '|', Cameleer::Forked::stamp('/no/such') // 'undef', Cameleer::Forked::prepare("/no/such\0A=1") }, 'undef|no' ],
    ready                          => [ sub ($r) { My::Forked::prepared("#!/usr/bin/perl\nprint 1;\n") }, $ENV{TEST_UNDER_TAINT_CHECK} ? 'no' : 'yes' ],
    a_syntax_error_is_not_prepared => [ sub ($r) { My::Forked::prepared("#!/usr/bin/perl\n1 +;\n# 2\n") }, 'no' ],
    prints                         => [ sub ($r) { My::Forked::prepared("#!/usr/bin/perl\nBEGIN { print 'early' }\n") }, 'no' ],
    unnamed                        => [ sub ($r) { eval { My::Forked::prepared("1 +;\n# without a first line\n") }; $@ }, $ENV{TEST_UNDER_TAINT_CHECK} ? '' : qr/\Asyntax error at \S+forked\.pl line 1/ ],
    restored                       => [ sub ($r) { my $state = Cameleer::Forked::snapshot(); local @INC = '/x'; local $, = '-'; local $SIG{USR1} = 'IGNORE'; Cameleer::Forked::restore($state); join '|', scalar( grep { $_ eq '/x' } @INC ), $, // 'undef', $SIG{USR1} // 'none' }, qr/\A0\|undef\|/ ],
    environment => [ sub ($r) { my $before = join ',', map {"$_=$ENV{$_}"} sort keys %ENV; My::Forked::prepared("#!/usr/bin/perl\n# 3\nBEGIN { \$ENV{B} = 2 }\n"); $before eq join( ',', map {"$_=$ENV{$_}"} sort keys %ENV ) ? 'same' : 'other' }, 'same' ],
};
