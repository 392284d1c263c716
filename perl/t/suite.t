#!/usr/bin/perl
# Plack's own server tests, whole, against `cameleer run`.
#
#     CAMELEER=target/debug/cameleer prove perl/t/suite.t
use v5.36;

use Plack::Test::Suite;
use Test::More;

my $cameleer = $ENV{CAMELEER} // 'cameleer';
my $app      = q{use Plack::Test::Suite; use Plack::Middleware::Lint;
    Plack::Middleware::Lint->wrap( Plack::Test::Suite->test_app_handler )};

Plack::Test::Suite->run_server_tests(
    sub ( $port, $ ) {
        exec $cameleer, 'run', '--listen', "127.0.0.1:$port", '--workers', 2, '-e', $app;
        die "$cameleer: $!\n";
    }
);

done_testing;
