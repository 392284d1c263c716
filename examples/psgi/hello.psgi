use strict;
use warnings;

my $hits = 0;

sub {
    my $env = shift;
    my $name = $env->{PATH_INFO} =~ m{\A/(\w+)\z} ? $1 : 'world';
    return [ 200, [ 'Content-Type' => 'text/plain' ], [ "Hello, $name. Worker $$ has said so ", ++$hits, " times.\n" ] ];
};
