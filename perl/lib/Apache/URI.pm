package Apache::URI;

use v5.36;

use Apache ();

my @PARTS = qw(scheme hostinfo user password hostname port path query fragment path_info);

for my $part (@PARTS) {
    no strict 'refs';
    *$part = sub {
        my $uri    = shift;
        my $before = $uri->{$part};
        $uri->{$part} = shift if @_;
        return $before;
    };
}

# Default ports, which are omitted.
my %PORTS = ( http => 80, https => 443, ftp => 21, gopher => 70, nntp => 119, wais => 210, news => 119, snews => 563 );

# Flags of unparse, with httpd's values.
use constant {
    UNP_OMITSITEPART    => 1,
    UNP_OMITUSER        => 2,
    UNP_OMITPASSWORD    => 4,
    UNP_REVEALPASSWORD  => 8,
    UNP_OMITPATHINFO    => 16,
    UNP_OMITQUERY       => 32,
};

# Without a text, returns the request's own absolute URI.
sub parse ( $class, $r, $text = undef ) {
    return bless _taken_apart($text), ref $class || $class if defined $text;
    my $uri = bless _taken_apart( _own_address($r) ), ref $class || $class;
    $uri->{query} = $r->query_string;
    return $uri;
}

sub _own_address ($r) {
    my $scheme = ( $r->cgi_env('HTTPS') // '' ) eq 'on' ? 'https' : 'http';
    my ( $port, $path ) = ( $r->get_server_port, $r->uri );
    my $shown = $port == $PORTS{$scheme} ? '' : ":$port";
    return $scheme . '://' . $r->get_server_name . $shown . $path;
}

# The regular expression of RFC 3986, appendix B.
sub _taken_apart ($text) {
    my %part;
    @part{qw(scheme hostinfo path query fragment)}
        = $text =~ m{\A(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:\#(.*))?\z}s;
    undef $part{path} if defined $part{path} && $part{path} eq '' && defined $part{hostinfo};
    my ( $credentials, $host ) = ( $part{hostinfo} // '' ) =~ /\A(?:(.*)@)?(.*)\z/s;
    @part{qw(user password)} = split /:/, $credentials, 2 if defined $credentials;
    @part{qw(hostname port)} = $host =~ /\A(\[[^\]]*\]|[^:]*)(?::(\d*))?\z/ if $host ne '';
    return \%part;
}

sub unparse ( $uri, $flags = UNP_OMITPASSWORD ) {
    my $out = $flags & UNP_OMITSITEPART ? '' : $uri->_site($flags);
    return $out if $flags & UNP_OMITPATHINFO;
    $out .= $uri->{path} // '';
    return $out if $flags & UNP_OMITQUERY;
    $out .= "?$uri->{query}"    if defined $uri->{query};
    $out .= "#$uri->{fragment}" if defined $uri->{fragment};
    return $out;
}

sub _site ( $uri, $flags ) {
    my $scheme = $uri->{scheme};
    my $out    = defined $scheme ? "$scheme:" : '';
    return $out unless defined $uri->{hostname};
    $out .= '//' . $uri->_credentials($flags) . $uri->{hostname};
    my $port = $uri->{port} // '';
    $out .= ":$port" if $port ne '' && $port ne ( $PORTS{ $scheme // '' } // '' );
    return $out;
}

sub _credentials ( $uri, $flags ) {
    my ( $user, $password ) = @$uri{qw(user password)};
    $user     = undef       if $flags & UNP_OMITUSER;
    $password = 'XXXXXXXX'  if defined $password && !( $flags & UNP_REVEALPASSWORD );
    $password = undef       if $flags & UNP_OMITPASSWORD;
    return '' unless defined $user || defined $password;
    return ( $user // '' ) . ( defined $password ? ":$password" : '' ) . '@';
}

# The path without its path_info.
sub rpath ($uri) {
    my ( $path, $info ) = @$uri{qw(path path_info)};
    return $path unless defined $path && defined $info;
    my $length = length($path) - length $info;
    return $length > 0 ? substr( $path, 0, $length ) : undef;
}

package Apache {

    # The URI of the request line: usually without scheme and host.
    sub parsed_uri ($r) {
        my $uri = bless Apache::URI::_taken_apart( $r->unparsed_uri ), 'Apache::URI';
        @$uri{qw(path path_info)} = ( $r->uri, $r->path_info );
        return $uri;
    }
}

1;

__END__

=head1 NAME

Apache::URI - parses and composes URIs

=head1 SYNOPSIS

    use Apache::URI ();

    my $uri = $r->parsed_uri;                                          # of the request line
    my $own = Apache::URI->parse($r);                                  # http://host:port/path?query
    my $far = Apache::URI->parse( $r, 'http://www.example.org/a?b' );

    $far->scheme('https');
    print $far->unparse;

=head1 DESCRIPTION

C<scheme hostinfo user password hostname port path query fragment path_info> return a part, or undef
if it is missing; with an argument they set it and return the old value. Only C<< $r->parsed_uri >>
has C<path_info>. C<rpath> is the path without it.

C<unparse> composes the URI from its parts, except C<hostinfo>, and omits the password. It takes the
sum of httpd's flags, which are constants of this package: C<UNP_OMITSITEPART> 1, no scheme and
host; C<UNP_OMITUSER> 2; C<UNP_OMITPASSWORD> 4; C<UNP_REVEALPASSWORD> 8, without which a password
becomes C<XXXXXXXX>; C<UNP_OMITPATHINFO> 16, no path, query and fragment; C<UNP_OMITQUERY> 32, no
query and fragment. The scheme's default port is omitted.

=cut
