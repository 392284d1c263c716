package Bench::Burn;

use strict;
use warnings;

my $loops;

# The environment is read at the first call, not at load time: under mod_perl
# PerlSetEnv reaches %ENV only after the configuration has been read.
sub text {
    $loops ||= $ENV{BENCH_LOOPS} || die "BENCH_LOOPS is not set\n";

    my $sum = 1;
    $sum = ($sum * 31 + $_) % 65521 for 1 .. $loops;
    return "work $sum\n";
}

1;
