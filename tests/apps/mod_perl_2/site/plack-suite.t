#!/usr/bin/perl
# Plack's own tests of servers against one that listens at 127.0.0.1:PORT already.
#
#     perl plack-suite.t PORT PLACE
use v5.36;

use Plack::Test::Suite;
use Test::More;

( my $port, $ENV{PLACK_TEST_SCRIPT_NAME} ) = @ARGV;
Plack::Test::Suite->run_server_tests( sub { die "it runs already\n" }, $port );
done_testing;
