package Apache2::Access;

use v5.36;

use Apache2::RequestRec ();
use Cameleer::ModPerl2  ();

package Apache2::RequestRec {
    Cameleer::ModPerl2::lend( 'Apache', __PACKAGE__,
        qw(allow_options auth_name get_remote_logname note_basic_auth_failure satisfies some_auth_required requires) );

    # Returns `none` if AuthType is not set, as in httpd 2.4.
    sub auth_type ( $r, @new ) {
        my $fields = Cameleer::ModPerl2::of_request($r);
        $fields->{auth_type} = $new[0] if @new && defined $new[0];
        return $fields->{auth_type} // Apache::auth_type($r) // 'none';
    }

    # Returns (OK, password), or (status, undef). Code that asks for a Basic password implies AuthType Basic
    # where none is set.
    sub get_basic_auth_pw ($r) {
        $r->auth_type('Basic') if $r->auth_type eq 'none';
        my ( $status, $password ) = Apache::get_basic_auth_pw($r);
        return wantarray ? ( $status, $password ) : $password;
    }

    sub note_auth_failure ($r) {
        return $r->auth_type =~ /\Adigest\z/i ? $r->note_digest_auth_failure : $r->note_basic_auth_failure;
    }

    # Sets the challenge for Digest authentication, which never sends the password.
    sub note_digest_auth_failure ($r) {
        my $realm  = ( $r->auth_name // '' ) =~ s/(["\\])/\\$1/gr;
        my $nonce  = sprintf '%08x%04x', $r->request_time, $r->number & 0xffff;
        my $header = $r->proxyreq ? 'Proxy-Authenticate' : 'WWW-Authenticate';
        $r->err_headers_out->set( $header => qq(Digest realm="$realm", nonce="$nonce") );
        return;
    }

    # Adds methods to the response's Allow header.
    sub allow_methods ( $r, $reset, @methods ) {
        my $fields = Cameleer::ModPerl2::of_request($r);
        $fields->{methods} = [] if $reset;
        push @{ $fields->{methods} //= [] }, @methods;
        $r->headers_out->set( Allow => join ', ', @{ $fields->{methods} } );
        return;
    }

    sub allow_overrides     ($r) { return 0 }
    sub allow_override_opts ($r) { return 0 }
}

1;

__END__

=head1 NAME

Apache2::Access - access control: passwords, users and methods

=head1 SYNOPSIS

    use Apache2::Access ();

    my ( $status, $password ) = $r->get_basic_auth_pw;
    return $status unless $status == Apache2::Const::OK;
    return Apache2::Const::OK if right( $r->user, $password );
    $r->note_basic_auth_failure;
    return Apache2::Const::HTTP_UNAUTHORIZED;

=cut
