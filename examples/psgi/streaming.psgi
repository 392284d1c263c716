use strict;
use warnings;

# A slow response: each line is sent immediately, and the client occupies no worker after the last one is written. /3
# sends three lines; they are logged after the client has the response.
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
