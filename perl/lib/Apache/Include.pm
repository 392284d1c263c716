package Apache::Include;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK);

# Runs another address of the site, and its output becomes part of this one's. Returns its status.
sub virtual ( $class, $uri, $r = Apache->request ) {
    my $sub = $r->lookup_uri($uri);
    $sub->header_in( 'Content-Length' => 0 );    # the body is the main request's
    return $sub->status if $sub->status != 200;
    my $said = $sub->run;
    return $said == OK ? $sub->status : $said;
}

# As a handler: the address stands in the configuration, or is an argument (mod_include's `#perl sub`).
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

Apache::Include - another address of the site as a part of a page

=head1 SYNOPSIS

    my $status = Apache::Include->virtual('/perl/menu.pl');
    Apache::Include->virtual( '/perl/menu.pl', $r );

=head1 DESCRIPTION

Runs a subrequest, C<< $r->lookup_uri(...)->run >>. Its output stands where the call is; its header goes nowhere. Without
C<$r> it is one of the request that is being answered. Returns its status: 200, what the handler there returned, or what the
look-up ended with (404, 403), and then nothing was printed.

C<handler($r, URI)> does the same; as a C<PerlHandler> the address is C<PerlSetVar IncludeVirtual>.

=cut
