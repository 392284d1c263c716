package House;

# The site's part of Apache2::AuthCookie: checks credentials, checks session keys, and defines own words of Require.
# Under Apache2_4::AuthCookie these are providers, under the older one methods of the site.

use v5.36;
use Apache2::RequestIO   ();
use Apache2::RequestRec  ();
use Apache2::RequestUtil ();
use Apache2::Const -compile => qw(OK FORBIDDEN AUTHZ_GRANTED AUTHZ_DENIED AUTHZ_DENIED_NO_USER);

my %PASSWORD = ( ana => 'secret', ben => 'other' );

sub authen_cred ( $self, $r, $user = '', $password = '', @ ) {
    return ( $PASSWORD{$user} // '' ) eq $password && length $password ? "$user:key" : undef;
}

sub authen_ses_key ( $self, $r, $key ) {
    my ($user) = $key =~ /\A(\w+):key\z/ or return;
    return exists $PASSWORD{$user} ? $user : undef;
}

sub team ( $self, $r, $wanted ) {
    return $wanted eq 'blue' && $r->user eq 'ana' ? Apache2::Const::OK : Apache2::Const::FORBIDDEN;
}

sub authz_team ( $self, $r, $wanted ) {
    my $user = $r->user // return Apache2::Const::AUTHZ_DENIED_NO_USER;
    return $wanted eq 'blue' && $user eq 'ana' ? Apache2::Const::AUTHZ_GRANTED : Apache2::Const::AUTHZ_DENIED;
}

sub form ($r) {
    $r->content_type('text/html');
    my $asked = $r->prev ? $r->prev->uri : '-';
    my $why   = ( $r->prev && $r->prev->subprocess_env('AuthCookieReason') ) // '-';
    $r->print("form for $asked: $why");
    return Apache2::Const::OK;
}

sub room ($r) {
    $r->content_type('text/plain');
    $r->print( join ' ', 'room of', $r->user, $r->auth_type );
    return Apache2::Const::OK;
}

package House::Old {
    use parent -norequire, 'House', 'Apache2::AuthCookie';
    use Apache2::AuthCookie ();
}

package House::New {
    use parent -norequire, 'House', 'Apache2_4::AuthCookie';
    use Apache2_4::AuthCookie ();
}

1;
