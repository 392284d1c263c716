package Apache2::URI;

use v5.36;

use APR::URI               ();
use Apache2::RequestRec    ();
use Apache2::RequestUtil   ();
use Cameleer::ModPerl2     ();

# Decodes its argument in place.
sub unescape_url { return $_[0] = Apache::unescape_url( $_[0] ) }

package Apache2::RequestRec {
    sub construct_server ( $r, $host = $r->get_server_name, $port = $r->get_server_port, @ ) {
        return $port == ( Apache2::URI::_scheme($r) eq 'https' ? 443 : 80 ) ? $host : "$host:$port";
    }

    # The URL of the path, without a query unless the argument has one.
    sub construct_url ( $r, $uri = $r->uri, @ ) {
        return Apache2::URI::_scheme($r) . '://' . $r->construct_server . $uri;
    }

    # The URI of the request line, usually without scheme and host; callers share one object.
    sub parsed_uri ($r) {
        my $fields = Cameleer::ModPerl2::of_request($r);
        my $uri    = $fields->{parsed_uri} //= Apache2::URI::_parsed( $r, $r->unparsed_uri );
        $uri->path_info( $r->path_info );
        return $uri;
    }

    # Parses `text`, and changes path and query of the request, as httpd's ap_parse_uri does.
    sub parse_uri ( $r, $text ) {
        my $uri = Cameleer::ModPerl2::of_request($r)->{parsed_uri} = Apache2::URI::_parsed( $r, $text );
        $r->uri( $uri->path // '/' );
        $r->args( $uri->query );
        return;
    }
}

sub _parsed ( $r, $text ) { return APR::URI->parse( $r->pool, $text ) }

sub _scheme ($r) { return ( Apache::cgi_env( $r, 'HTTPS' ) // '' ) eq 'on' ? 'https' : 'http' }

1;

__END__

=head1 NAME

Apache2::URI - the URIs of requests

=head1 SYNOPSIS

    use Apache2::URI ();

    $r->construct_server;                    # www.example.org:8080
    $r->construct_url('/other');             # http://www.example.org:8080/other
    $r->parsed_uri->query;                   # an APR::URI
    $r->parse_uri('/other?a=1');
    Apache2::URI::unescape_url($text);       # in place

=cut
