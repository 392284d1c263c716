package Apache2::SubRequest;

use v5.36;

use Apache2::RequestRec ();
use Cameleer::ModPerl2  ();

*run = \&Apache::SubRequest::run;

package Apache2::RequestRec {
    Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__, qw(internal_redirect internal_redirect_handler) );

    # Filters that the subrequest's answer passes cannot be named: it passes those of its own place.
    sub lookup_uri  ( $r, $uri,  @ ) { return Apache::lookup_uri( $r, $uri ) }
    sub lookup_file ( $r, $file, @ ) { return Apache::lookup_file( $r, $file ) }

    sub lookup_method_uri ( $r, $method, $uri, @ ) {
        my $sub = Apache::lookup_uri( $r, $uri );
        $sub->method($method);
        return $sub;
    }

    # What the subrequest found out becomes this request's: its file and its place.
    sub internal_fast_redirect ( $r, $sub ) { return Cameleer::ModPerl2::become( $r, $sub ) }
}

1;

__END__

=head1 NAME

Apache2::SubRequest - requests that a request leads to

=head1 SYNOPSIS

    use Apache2::SubRequest ();

    my $sub = $r->lookup_uri('/other');
    $sub->run if $sub->status == 200;
    $r->internal_redirect('/elsewhere');

=cut
