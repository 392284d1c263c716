package Doors;

# The site's part of Apache::AuthCookie: checks credentials and session keys.

use v5.36;
use parent 'Apache::AuthCookie';
use Apache::Constants qw(OK FORBIDDEN);

my %PASSWORD = ( ana => 'secret', ben => 'other' );

sub authen_cred ( $self, $r, $user = '', $password = '', @ ) {
    return ( $PASSWORD{$user} // '' ) eq $password && length $password ? "$user:key" : undef;
}

sub authen_ses_key ( $self, $r, $key ) {
    my ($user) = $key =~ /\A(\w+):key\z/ or return;
    return exists $PASSWORD{$user} ? $user : undef;
}

sub team ( $self, $r, $wanted ) {
    return $wanted eq 'blue' && $r->connection->user eq 'ana' ? OK : FORBIDDEN;
}

sub form ($r) {
    $r->send_http_header('text/html');
    my $asked = $r->prev ? $r->prev->uri : '-';
    my $why   = ( $r->prev && $r->prev->subprocess_env('AuthCookieReason') ) // '-';
    $r->print("form for $asked: $why");
    return OK;
}

sub room ($r) {
    $r->send_http_header('text/plain');
    $r->print( join ' ', 'room of', $r->connection->user, $r->connection->auth_type );
    return OK;
}

1;
