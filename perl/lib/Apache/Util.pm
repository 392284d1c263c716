package Apache::Util;

use v5.36;
use Exporter 'import';
use Cameleer::XS ();

use Apache ();

Cameleer::XS::load(__PACKAGE__);

our @EXPORT_OK = qw(escape_html escape_uri unescape_uri unescape_uri_info parsedate ht_time size_string
    validate_password);
our %EXPORT_TAGS = ( all => \@EXPORT_OK );

*unescape_uri      = \&Apache::unescape_url;
*unescape_uri_info = \&Apache::unescape_url_info;

# --- dates

my @MONTHS = qw(Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec);
my @DAYS   = qw(Sun Mon Tue Wed Thu Fri Sat);
my %MONTH  = map { lc $MONTHS[$_] => $_ } 0 .. $#MONTHS;

# strftime would use the locale's names; HTTP's dates are in English.
sub ht_time ( $time = time, $format = '%a, %d %b %Y %T %Z', $gmt = 1 ) {
    my @t = $gmt ? gmtime $time : localtime $time;
    $format =~ s/%a/$DAYS[$t[6]]/g;
    $format =~ s/%b/$MONTHS[$t[4]]/g;
    $format =~ s/%Z/GMT/g if $gmt;
    require POSIX;
    return POSIX::strftime( $format, @t );
}

# Parses the three formats of RFC 9110, 5.6.7; returns 0 for other texts, as in mod_perl 1.
sub parsedate ($date) {
    my ( $day, $month, $year, @clock );
    if ( $date =~ /\A\s*\w+,\s*(\d+)[ -](\w{3})[ -](\d{2,4})\s+(\d+):(\d+):(\d+)/ ) {
        ( $day, $month, $year, @clock ) = ( $1, $2, $3, $6, $5, $4 );
    }
    elsif ( $date =~ /\A\s*\w{3}\s+(\w{3})\s+(\d+)\s+(\d+):(\d+):(\d+)\s+(\d{4})/ ) {
        ( $day, $month, $year, @clock ) = ( $2, $1, $6, $5, $4, $3 );
    }
    else { return 0 }
    my $number = $MONTH{ lc $month } // return 0;
    $year += $year < 70 ? 2000 : 1900 if $year < 100;
    require Time::Local;
    return eval { Time::Local::timegm_modern( @clock, $day, $number, $year ) } // 0;
}

# --- sizes and passwords

# Five characters wide, like the sizes in httpd's folder listings.
sub size_string ($size) {
    return '    -' if $size < 0;
    return '   0k' if $size == 0;
    return '   1k' if $size < 1024;
    return sprintf '%4dk', ( $size + 512 ) / 1024 if $size < 1_048_576;
    return sprintf '%4.1fM', $size / 1_048_576 if $size < 103_809_024;
    return sprintf '%4dM', ( $size + 524_288 ) / 1_048_576;
}

# Checks a password against a line of htpasswd: apr1 (MD5), {SHA} or the hashes of this system's crypt(3).
sub validate_password ( $password, $hash ) {
    utf8::encode($password) if utf8::is_utf8($password);
    my $made
        = $hash =~ /\A\$apr1\$([^\$]*)/ ? _apr1( $password, substr $1, 0, 8 )
        : $hash =~ /\A\{SHA\}/          ? _sha1($password)
        :                                 crypt( $password, $hash );
    return defined $made && $made eq $hash ? 1 : 0;
}

sub _sha1 ($password) {
    require Digest::SHA;
    return '{SHA}' . Digest::SHA::sha1_base64($password) . '=';
}

# Poul-Henning Kamp's MD5 scheme with httpd's own prefix: a thousand rounds make guessing slow.
sub _apr1 ( $password, $salt ) {
    require Digest::MD5;
    my $length = length $password;
    my $text   = $password . '$apr1$' . $salt;
    my $inner  = Digest::MD5::md5( $password . $salt . $password );
    $text .= substr( $inner x ( $length / 16 + 1 ), 0, $length );
    for ( my $bits = $length ; $bits ; $bits >>= 1 ) {
        $text .= $bits & 1 ? "\0" : substr( $password, 0, 1 );
    }
    my $sum = Digest::MD5::md5($text);
    for my $round ( 0 .. 999 ) {
        my $input = $round & 1 ? $password : $sum;
        $input .= $salt     if $round % 3;
        $input .= $password if $round % 7;
        $input .= $round & 1 ? $sum : $password;
        $sum = Digest::MD5::md5($input);
    }
    return "\$apr1\$$salt\$" . _to64($sum);
}

# crypt's alphabet and byte order.
sub _to64 ($sum) {
    my @alphabet = ( '.', '/', 0 .. 9, 'A' .. 'Z', 'a' .. 'z' );
    my @bytes    = unpack 'C16', $sum;
    my @groups   = map { [ $bytes[$_] << 16 | $bytes[ $_ + 6 ] << 8 | $bytes[ $_ == 4 ? 5 : $_ + 12 ], 4 ] } 0 .. 4;
    return join '', map { my ( $value, $digits ) = @$_; map { $alphabet[ $value >> 6 * $_ & 63 ] } 0 .. $digits - 1 }
        @groups, [ $bytes[11], 2 ];
}

1;

__END__

=head1 NAME

Apache::Util - escaping, dates, sizes and passwords

=head1 SYNOPSIS

    use Apache::Util qw(:all);

    print escape_html($text), escape_uri($path);
    my $text = unescape_uri($path);                  # %XX
    my $word = unescape_uri_info($part_of_a_query);  # %XX, and + as a space
    my $date = ht_time( time, '%d %b %Y', 0 );       # local time
    my $time = parsedate('Sun, 06 Nov 1994 08:49:37 GMT');
    print size_string( -s $file );                   # " 1.5M"
    print 'welcome' if validate_password( $password, $line_of_htpasswd );

=head1 DESCRIPTION

=over

=item escape_html(TEXT)

Escapes C<< < > & " >> as entities. Characters stay characters.

=item escape_uri(PATH)

Escapes all bytes except letters, digits and C<$-_.+!*'(),:@&=/~> as C<%xx>. Wide characters are
escaped as UTF-8.

=item ht_time(SECONDS, FORMAT, GMT)

Defaults: now, C<%a, %d %b %Y %T %Z>, true. Names of days and months are English whatever the locale.

=item parsedate(DATE)

Seconds since 1970 of a date in one of HTTP's three formats, 0 for other texts.

=item size_string(BYTES)

Five characters: C<   1k>, C< 345k>, C< 1.5M>, C< 120M>; C<    -> for a negative number.

=item validate_password(PASSWORD, HASH)

Returns 1 or 0. HASH: C<$apr1$SALT$...>, C<{SHA}...>, or a hash of crypt(3).

=back

=cut
