package Apache2::SubRequest;

use v5.36;

use Apache2::RequestRec ();
use Cameleer::ModPerl2  ();

*run = \&Apache::SubRequest::run;

package Apache2::RequestRec {
    Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__, qw(internal_redirect internal_redirect_handler) );

    # The subrequest's output passes the filters of its own location, then `$filter` and the following ones.
    sub lookup_uri  ( $r, $uri,  $filter = undef ) { return Cameleer::ModPerl2::passing( $filter, Apache::lookup_uri( $r, $uri ) ) }
    sub lookup_file ( $r, $file, $filter = undef ) { return Cameleer::ModPerl2::passing( $filter, Apache::lookup_file( $r, $file ) ) }

    # Looks up a file in the request's folder, as code does that lists the folder.
    sub lookup_dirent ( $r, $finfo, $subtype = undef, $filter = undef ) {
        my $name = $finfo->name // $finfo->fname =~ s{.*/}{}sr;
        return $r->lookup_file( $name, $filter );
    }

    sub lookup_method_uri ( $r, $method, $uri, $filter = undef ) {
        my $sub = $r->lookup_uri( $uri, $filter );
        $sub->method($method);
        return $sub;
    }

    # The subrequest's URI responds instead of this request; its phases run again.
    sub internal_fast_redirect ( $r, $sub ) {
        my $query = $sub->args;
        return Apache::internal_redirect( $r, $sub->uri . ( defined $query ? "?$query" : '' ) );
    }
}

1;

__END__

=head1 NAME

Apache2::SubRequest - subrequests and internal redirects

=head1 SYNOPSIS

    use Apache2::SubRequest ();

    my $sub = $r->lookup_uri('/other');
    $sub->run if $sub->status == 200;
    $r->internal_redirect('/elsewhere');

=cut
