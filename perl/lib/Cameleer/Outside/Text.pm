package Cameleer::Outside::Text;

use v5.36;

# Functions of Apache.xs and Apache/Util.xs that depend only on their arguments, in Perl, for use outside of the
# server.

my %ENTITY = ( '<' => '&lt;', '>' => '&gt;', '&' => '&amp;', '"' => '&quot;' );

sub Cameleer::Outside::Apache::Util::escape_html ($text) { return ( $text // '' ) =~ s/([<>&"])/$ENTITY{$1}/gr }

sub Cameleer::Outside::Apache::Util::escape_uri ($text) {
    return bytes($text) =~ s{([^A-Za-z0-9\$\-_.+!*'(),:\@&=/~])}{sprintf '%%%02x', ord $1}egr;
}

sub Cameleer::Outside::Apache::unescape_url ($text) { return ( $text // '' ) =~ s/%([0-9A-Fa-f]{2})/chr hex $1/egr }

sub Cameleer::Outside::Apache::unescape_url_info ($text) {
    return Cameleer::Outside::Apache::unescape_url( ( $text // '' ) =~ tr/+/ /r );
}

# A query without any `=` is a list of words; otherwise pairs, where a lone name has an empty value.
sub Cameleer::Outside::Apache::parse_args ( $wants_list, $query ) {
    return $query if !$wants_list;
    return        if !defined $query;
    my @parts    = split /[&;]/, $query;
    my $is_pairs = $query =~ /=/;
    my @words = $is_pairs ? map { ( split( /=/, $_, 2 ), '' )[ 0, 1 ] } grep { $_ ne '' } @parts : @parts;
    return map { Cameleer::Outside::Apache::unescape_url_info($_) } @words;
}

# Converts characters to Latin-1 where possible, else to UTF-8.
sub bytes ($text) {
    $text //= '';
    utf8::encode($text) if !utf8::downgrade( $text, 1 );
    return $text;
}

# Outside of the server there is no input of clients to taint.
sub Cameleer::Outside::Apache::taint { return }

sub Cameleer::Outside::Apache::untaint {
    for ( @_[ 1 .. $#_ ] ) { ($_) = /\A(.*)\z/s if defined && ${^TAINT} }
    return;
}

1;

__END__

=head1 NAME

Cameleer::Outside::Text - escapes of the API in a plain perl

=head1 SYNOPSIS

    use Apache::Util 'escape_uri';    # outside of the server; the server has compiled ones

=cut
