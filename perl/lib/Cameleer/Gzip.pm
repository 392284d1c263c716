package Cameleer::Gzip;

use v5.36;

use Compress::Raw::Zlib qw(WANT_GZIP Z_OK);

# Whether the header allows gzip: by name or by *, with a weight other than 0.
sub is_accepted ($r) {
    my %weight;
    for my $coding ( split /,/, lc( $r->header_in('Accept-Encoding') // '' ) ) {
        my ( $name, $q ) = $coding =~ /\A\s*([\w*-]+)(?:\s*;\s*q=([0-9.]+))?\s*\z/ or next;
        $weight{$name} = $q // 1;
    }
    return ( $weight{gzip} // $weight{'x-gzip'} // $weight{'*'} // 0 ) > 0;
}

# Sets the head of a compressed response.
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
    $status == Z_OK or die "gzip: cannot begin the compression: $status\n";
    return bless { stream => $stream }, $class;
}

# Compresses text; returns the compressed bytes that are ready.
sub add ( $self, @text ) {
    my $out = '';
    for my $bytes ( map { my $copy = $_ // ''; $copy } @text ) {
        utf8::encode($bytes) if utf8::is_utf8($bytes);
        $self->{stream}->deflate( $bytes, $out ) == Z_OK or die "gzip: cannot compress the data\n";
    }
    return $out;
}

# Returns the remaining compressed bytes.
sub end ($self) {
    my $out = '';
    $self->{stream}->flush($out) == Z_OK or die "gzip: cannot finish the compressed data\n";
    return $out;
}

1;

__END__

=head1 NAME

Cameleer::Gzip - compresses a response for clients that accept gzip

=head1 SYNOPSIS

    if ( Cameleer::Gzip::is_accepted($r) ) {
        Cameleer::Gzip::announce($r);
        my $gzip = Cameleer::Gzip->new;
        print $gzip->add($text), $gzip->end;
    }

=cut
