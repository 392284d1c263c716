package Apache2::Util;

use v5.36;

# `Sun, 29 Oct 2000 15:43:29 GMT`, or another format, or local time.
sub ht_time ( $pool, $time = time, $format = '%a, %d %b %Y %H:%M:%S %Z', $is_gmt = 1 ) {
    require POSIX;
    return POSIX::strftime( $format, localtime $time ) unless $is_gmt;
    return POSIX::strftime( $format =~ s/%Z/GMT/gr, gmtime $time );
}

# Encodes a path as part of a URI. If the path is a whole URI, and a colon in its first segment would look like
# a scheme, it gets the prefix `./`.
sub escape_path ( $path, $pool, $is_part = 1 ) {
    utf8::encode($path) if utf8::is_utf8($path);
    my $prefix = !$is_part && $path =~ m{\A[^/:]*:} ? './' : '';
    return $prefix . $path =~ s{([^A-Za-z0-9\$_.+!*'(),:\@&=/~-])}{sprintf '%%%02x', ord $1}ger;
}

1;

__END__

=head1 NAME

Apache2::Util - dates and paths in HTTP's format

=head1 SYNOPSIS

    use Apache2::Util ();

    Apache2::Util::ht_time( $r->pool, time );                                # Sun, 29 Oct 2000 15:43:29 GMT
    Apache2::Util::ht_time( $r->pool, time, '%H:%M', 0 );                    # the local time
    Apache2::Util::escape_path( 'what now?.html', $r->pool );                # what%20now%3f.html

=cut
