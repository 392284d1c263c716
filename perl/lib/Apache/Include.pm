package Apache::Include;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK);

# Runs a subrequest whose output becomes part of the response. Returns its status.
sub virtual ( $class, $uri, $r = Apache->request ) {
    my $sub = $r->lookup_uri($uri);
    $sub->header_in( 'Content-Length' => 0 );    # the body is the main request's
    return $sub->status if $sub->status != 200;
    my $outcome = $sub->run;
    return $outcome == OK ? $sub->status : $outcome;
}

# As a handler, reads the URI from the configuration or from an argument (mod_include's `#perl sub`).
sub handler {
    my ( $r, @arguments ) = grep { ref || m{/} } @_;
    my $uri = $arguments[0] // $r->dir_config('IncludeVirtual') // return 500;
    $r->send_http_header;
    __PACKAGE__->virtual( $uri, $r );
    return OK;
}

1;

__END__

=head1 NAME

Apache::Include - includes another URI of the site in a page

=head1 SYNOPSIS

    my $status = Apache::Include->virtual('/perl/menu.pl');
    Apache::Include->virtual( '/perl/menu.pl', $r );

=head1 DESCRIPTION

Runs a subrequest, C<< $r->lookup_uri(...)->run >>. Its output is inserted at the call; its header
is dropped. Without C<$r> it is a subrequest of the current request. Returns its status: 200, the
handler's return value, or the status of a failed lookup (404, 403); in the last case nothing is
printed.

C<handler($r, URI)> does the same; as a C<PerlHandler> it takes the URI from C<PerlSetVar
IncludeVirtual>.

=cut
