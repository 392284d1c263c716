package Experiment::Trans;

# Says at once where /news/... leads, so that nobody looks for a file.
use strict;
use warnings;

sub handler {
    my $r = shift;
    return -1 unless $r->uri =~ m{\A/news/};
    $r->filename( $r->document_root . '/index.html' );
    return 0;
}

1;
