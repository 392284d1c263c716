package Experiment::Trans;

# Translates /news/... immediately, so that no file is looked up.
use strict;
use warnings;

sub handler {
    my $r = shift;
    return -1 unless $r->uri =~ m{\A/news/};
    $r->filename( $r->document_root . '/index.html' );
    return 0;
}

1;
