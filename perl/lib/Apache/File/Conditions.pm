package Apache::File::Conditions;

use v5.36;

use Apache::Constants qw(OK HTTP_NOT_MODIFIED HTTP_PRECONDITION_FAILED);
use Apache::Util      ();

# The status of a conditional request, in the order of RFC 9110, 13.2.2.
sub status ($r) {
    return OK if ( $r->status < 200 || $r->status > 299 );
    my $in   = $r->headers_in;
    my $etag = Apache::header_out( $r, 'ETag' );
    return HTTP_PRECONDITION_FAILED if is_refused( $r, $in, $etag );
    if ( defined( my $known = $in->{'If-None-Match'} ) ) {
        return OK unless lists( $known, $etag, \&same_weakly );
        return $r->method_number == 0 ? HTTP_NOT_MODIFIED : HTTP_PRECONDITION_FAILED;
    }
    return $r->method_number == 0 && is_as_new( $r, $in->{'If-Modified-Since'} ) ? HTTP_NOT_MODIFIED : OK;
}

sub is_refused ( $r, $in, $etag ) {
    my $wanted = $in->{'If-Match'};
    return !lists( $wanted, $etag, \&same_strongly ) if defined $wanted;
    my $since = Apache::Util::parsedate( $in->{'If-Unmodified-Since'} // '' );
    return $since && changed($r) > $since;
}

# A date in the future is ignored.
sub is_as_new ( $r, $date ) {
    my $since = Apache::Util::parsedate( $date // '' );
    return $since && $since <= $r->request_time && changed($r) <= $since;
}

sub changed ($r) { return $r->mtime || $r->request_time }

# `"a", W/"b"` or `*`
sub lists ( $list, $etag, $same ) {
    return 1 if $list =~ /\A\s*\*\s*\z/;
    return 0 unless defined $etag;
    return scalar grep { $same->( $_, $etag ) } $list =~ m{((?:W/)?"[^"]*")}g;
}

sub same_strongly ( $one, $other ) { return $one eq $other && $one !~ m{\AW/} }
sub same_weakly   ( $one, $other ) { return $one =~ s{\AW/}{}r eq $other =~ s{\AW/}{}r }

1;

__END__

=head1 NAME

Apache::File::Conditions - If-Match, If-None-Match and related headers

=head1 DESCRIPTION

Implements C<< $r->meets_conditions >> of L<Apache::File>.

=cut
