package APR::Request::Cookie::Header;

use v5.36;
use re 'taint';

use APR::Request::Decode ();
use APR::Request::Store  ();
use APR::Request::Value  ();

# A Cookie header by Netscape's definition, or, if it begins with `$Version`, by RFC 2109. Groups between commas
# are independent, so that several headers may be joined. An invalid cookie is skipped up to the next comma or
# semicolon, and sets the status.

my %ERROR = %APR::Request::Decode::NUMBERS;

sub parse ($text) {
    my $self = { text => \$text, status => 0, jar => APR::Request::Store->new };
    pos($text) = 0;
    1 while _group($self);
    return @$self{qw(status jar)};
}

# Parses up to the next comma; returns false at the end.
sub _group ($self) {
    my $text = $self->{text};
    @$self{qw(version cookie)} = ( 0, undef );
    $$text =~ /\G\s+/gc;
    if ( $$text =~ /\G\$Version[^,;]*/gci ) {
        $self->{version} = 1;
        return 1 if $$text =~ /\G,/gc;
    }
    while (1) {
        $$text =~ /\G[;\s]+/gc;
        return _store( $self, 0 ) if pos($$text) >= length $$text;    # perl does not let two empty matches follow each other
        return _store( $self, 1 ) if $$text =~ /\G,/gc;
        my $status = $$text =~ /\G\$/gc ? _attribute($self) : _cookie($self);
        return _skip( $self, $status ) if $status;
    }
}

sub _store ( $self, $answer ) {
    my $cookie = delete $self->{cookie} // return $answer;
    if   ( $self->{jar}->is_full ) { $self->{status} = $ERROR{OVERLIMIT} }
    else                           { $self->{jar}->add($cookie) }
    return $answer;
}

sub _skip ( $self, $status ) {
    $self->{status} = $status;
    ${ $self->{text} } =~ /\G[^,;]*/gc;
    return 0 if ${ $self->{text} } !~ /\G[,;]/gc;
    return _store( $self, 1 );
}

sub _cookie ($self) {
    _store( $self, 1 );
    my ( $status, $name, $value ) = _pair( $self->{text}, 0 );
    return $status if $status;
    $self->{cookie} = APR::Request::Value->new( name => $name, value => $value, version => $self->{version} );
    return 0;
}

my %ATTRIBUTE = ( port => 'port', path => 'path', comment => 'comment', commenturl => 'commentURL' );

# An attribute such as `$Path="/shop"` belongs to the cookie before it.
sub _attribute ($self) {
    my $cookie = $self->{cookie} // return $ERROR{BADCHAR};
    $self->{status} = $ERROR{MISMATCH} if !$self->{version};
    my ( $status, $name, $value ) = _pair( $self->{text}, 1 );
    return $status if $status;
    return APR::Request::Decode::EBADARG if length $name < 2;
    $name = lc $name =~ s/\A[-\$]//r;
    if    ( my $known = $ATTRIBUTE{$name} ) { $cookie->{$known} = $value }
    elsif ( $name =~ /\Ad/ )                { $cookie->{domain} = $value }
    elsif ( $name =~ /\A[em]/ )             { APR::Request::Cookie::set_expires( $cookie, $value ) }
    elsif ( $name =~ /\A([sh])/ )           { $cookie->{ $1 eq 's' ? 'secure' : 'httponly' } = $value !~ /\A(?:0|off\z|\z)/i ? 1 : 0 }
    elsif ( $name =~ /\Av/ && $name ne 'value' ) {
        return $ERROR{BADSEQ} if $value !~ /(\d)/a;
        $cookie->{version} = $1;
    }
    else { $self->{status} = $ERROR{BADATTR} }
    return 0;
}

# Parses `name=value`; returns a status and both texts. Quotes are part of the value, unless `unquote` is true.
sub _pair ( $text, $unquote ) {
    $$text =~ /\G[\s=]+/gc;
    $$text =~ /\G([^=;,]*)/gc;
    my $name = $1 =~ s/\s.*//sr;
    return $name eq '' ? $ERROR{BADCHAR} : $ERROR{NOTOKEN} if $$text !~ /\G=\s*/gc;
    return ( 0, $name, $1 ) if $$text !~ /\G(?=")/gc && $$text =~ /\G([^;,\s]*)/gc;
    if ( $$text !~ /\G"((?>[^"\\]+|\\.)*+)"/gcs ) {
        pos($$text) = length $$text;
        return $ERROR{BADSEQ};
    }
    my $value = $1;
    return ( 0, $name, $unquote ? $value =~ s/\\(.)/$1/gsr : qq("$value") );
}

1;

__END__

=head1 NAME

APR::Request::Cookie::Header - the C<Cookie> header for L<APR::Request::Cookie>

=cut
