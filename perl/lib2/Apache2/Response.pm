package Apache2::Response;

use v5.36;

use Apache2::RequestRec ();
use Apache::File        ();
use Cameleer::ModPerl2  ();

package Apache2::RequestRec {
    Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__, qw(custom_response send_cgi_header set_last_modified set_etag meets_conditions) );
    Cameleer::ModPerl2::lend( 'Cameleer::ModPerl2::RequestRec', __PACKAGE__, 'set_content_length' );

    # Sets the time of the newest source of the response.
    sub update_mtime ( $r, $time = 0 ) {
        my $fields = Cameleer::ModPerl2::of_request($r);
        $fields->{mtime} = $time if $time > ( $fields->{mtime} // 0 );
        return;
    }

    # With a date in the future, clients would never revalidate.
    sub rationalize_mtime ( $r, $time ) { return $time < $r->request_time ? $time : $r->request_time }

    sub make_etag ( $r, $weak = 0 ) { return Cameleer::ModPerl2::etag( $r, $weak ) }

    # Whether the connection may be reused; the front decides, and sends the header.
    sub set_keepalive ($r) { return ( $r->headers_in->get('Connection') // '' ) =~ /close/i ? 0 : 1 }

    sub send_error_response {
        Cameleer::ModPerl2::croak('$r->send_error_response is not available; return the status from the handler instead');
    }
}

1;

__END__

=head1 NAME

Apache2::Response - headers of the response, and conditional requests

=head1 SYNOPSIS

    use Apache2::Response ();

    $r->update_mtime( ( stat $file )[9] );
    $r->set_last_modified;
    $r->set_etag;
    if ( ( my $status = $r->meets_conditions ) != Apache2::Const::OK ) { return $status }
    $r->set_content_length( length $text );
    $r->custom_response( Apache2::Const::FORBIDDEN, '/denied.html' );
    $r->send_cgi_header("Content-Type: text/html\n\n");

=cut
