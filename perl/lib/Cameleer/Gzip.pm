package Cameleer::Gzip;

use v5.36;

use Compress::Raw::Zlib qw(WANT_GZIP Z_OK);

# A header that allows gzip: named, or by *, with a weight that is not 0.
sub is_accepted ($r) {
    my %weight;
    for my $coding ( split /,/, lc( $r->header_in('Accept-Encoding') // '' ) ) {
        my ( $name, $q ) = $coding =~ /\A\s*([\w*-]+)(?:\s*;\s*q=([0-9.]+))?\s*\z/ or next;
        $weight{$name} = $q // 1;
    }
    return ( $weight{gzip} // $weight{'x-gzip'} // $weight{'*'} // 0 ) > 0;
}

# The answer will be compressed: what that means for its head.
sub announce ($r) {
    my $vary = $r->header_out('Vary');
    $r->header_out( Vary => $vary ? "$vary, Accept-Encoding" : 'Accept-Encoding' );
    $r->content_encoding('gzip');
    $r->headers_out->unset($_) for qw(Content-Length ETag Accept-Ranges);
    return;
}

sub new ($class) {
    my ( $stream, $status ) =
      Compress::Raw::Zlib::Deflate->new( -WindowBits => WANT_GZIP, -AppendOutput => 1, -Level => 6 );
    $status == Z_OK or die "gzip: $status\n";
    return bless { stream => $stream }, $class;
}

# What of the compressed text is ready.
sub add ( $self, @text ) {
    my $out = '';
    for my $bytes ( map { my $copy = $_ // ''; $copy } @text ) {
        utf8::encode($bytes) if utf8::is_utf8($bytes);
        $self->{stream}->deflate( $bytes, $out ) == Z_OK or die "gzip cannot compress\n";
    }
    return $out;
}

# The rest.
sub end ($self) {
    my $out = '';
    $self->{stream}->flush($out) == Z_OK or die "gzip cannot finish\n";
    return $out;
}

1;

__END__

=head1 NAME

Cameleer::Gzip - compresses an answer for clients that accept it

=head1 SYNOPSIS

    if ( Cameleer::Gzip::is_accepted($r) ) {
        Cameleer::Gzip::announce($r);
        my $gzip = Cameleer::Gzip->new;
        print $gzip->add($text), $gzip->end;
    }

=cut
