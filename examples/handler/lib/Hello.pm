package Hello;

use strict;
use warnings;
use Apache::Constants qw(OK NOT_FOUND);

my %greeting = ( en => 'Hello', fr => 'Bonjour', it => 'Buongiorno' );

sub handler {
    my $r        = shift;
    my %args     = $r->args;
    my $language = $args{lang} || $r->dir_config('Language');
    my $greeting = $greeting{$language} or return NOT_FOUND;

    $r->content_type('text/plain');
    $r->header_out( 'Content-Language' => $language );
    $r->send_http_header;
    $r->print( $greeting, ', ', $args{name} || 'world', ".\n" );
    $r->register_cleanup( sub { $r->log->info("greeted in $language") } );
    return OK;
}

1;
