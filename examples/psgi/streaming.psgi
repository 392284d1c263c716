use strict;
use warnings;

# A response that takes its time: each line leaves at once, and the client holds no worker longer than it is written.
# /3 sends three lines; the log learns of them after the client has its answer.
sub {
    my $env = shift;
    my $lines = $env->{PATH_INFO} =~ m{\A/(\d+)\z} ? $1 : 10;
    push @{ $env->{'psgix.cleanup.handlers'} }, sub { warn "$lines lines were sent\n" };
    return sub {
        my $responder = shift;
        my $writer = $responder->( [ 200, [ 'Content-Type' => 'text/plain' ] ] );
        for my $n ( 1 .. $lines ) {
            $writer->write("line $n of $lines\n");
            sleep 1 if $n < $lines;
        }
        $writer->close;
    };
};
