package Apache::File::Ranges;

use v5.36;

use Apache::File::Conditions ();
use Apache::Util             ();

# Most ranges: each costs a header in the response.
my $MAX_RANGES = 100;

# Begins a partial response, if one is wanted: sets status and headers. Returns whether it is.
sub begin ($r) {
    my $size = $r->header_out('Content-Length') // return 0;
    my @ranges = wanted( $r, $size ) or return 0;
    my $plan   = { ranges => \@ranges, size => $size, next => 0 };
    @ranges == 1 ? announce_one( $r, $plan ) : announce_several( $r, $plan );
    $r->status(206);
    $r->pnotes( 'Apache::ranges' => $plan );
    return 1;
}

# The requested ranges; empty if the header is missing, invalid, or for another version (RFC 9110, 14.2).
sub wanted ( $r, $size ) {
    return if $r->method_number != 0 || $r->status != 200 || $size !~ /\A\d+\z/ || $size == 0;
    my ($list) = ( $r->header_in('Range') // '' ) =~ /\Abytes=(.*)\z/ or return;
    return unless is_same_version( $r, $r->header_in('If-Range') );
    my @specs = split /\s*,\s*/, $list;
    return if @specs > $MAX_RANGES;
    my @ranges;
    for my $spec (@specs) {
        my ( $from, $to ) = $spec =~ /\A(\d{0,18})-(\d{0,18})\z/ or return;
        return if $from eq '' && $to eq '' || $from ne '' && $to ne '' && $to < $from;
        push @ranges, clipped( $from, $to, $size );
    }
    return is_modest( \@ranges, $size ) ? @ranges : ();
}

sub is_same_version ( $r, $known ) {
    return 1 unless defined $known;
    return Apache::File::Conditions::same_strongly( $known, $r->header_out('ETag') // '' ) if $known =~ /"/;
    return $known eq ( $r->header_out('Last-Modified') // '' );
}

# Returns [offset, length], or nothing for a range that begins after the end.
sub clipped ( $from, $to, $size ) {
    return $to == 0 ? () : [ $to < $size ? ( $size - $to, $to ) : ( 0, $size ) ] if $from eq '';
    return if $from >= $size;
    my $last = $to eq '' || $to >= $size ? $size - 1 : $to;
    return [ 0 + $from, $last - $from + 1 ];
}

# Overlapping ranges could make the response many times larger than the file.
sub is_modest ( $ranges, $size ) {
    my $sum = 0;
    $sum += $_->[1] for @$ranges;
    return @$ranges && $sum <= $size;
}

sub announce_one ( $r, $plan ) {
    my $range = $plan->{ranges}[0];
    $r->header_out( 'Content-Range'  => content_range( $range, $plan->{size} ) );
    $r->header_out( 'Content-Length' => $range->[1] );
    return;
}

sub announce_several ( $r, $plan ) {
    $plan->{boundary} = sprintf '%x%08x', $r->request_time, rand 2**32;
    $plan->{type}     = $r->content_type // 'application/octet-stream';
    my $length = length tail($plan);
    $length += length( part( $plan, $_ ) ) + $_->[1] for @{ $plan->{ranges} };
    $r->content_type("multipart/byteranges; boundary=$plan->{boundary}");
    $r->header_out( 'Content-Length' => $length );
    return;
}

sub content_range ( $range, $size ) {
    return sprintf 'bytes %d-%d/%d', $range->[0], $range->[0] + $range->[1] - 1, $size;
}

sub part ( $plan, $range ) {
    return "\r\n--$plan->{boundary}\r\nContent-Type: $plan->{type}\r\nContent-Range: "
        . content_range( $range, $plan->{size} )
        . "\r\n\r\n";
}

sub tail ($plan) { return "\r\n--$plan->{boundary}--\r\n" }

# The (offset, length) of the next part; sends its header.
sub next ($r) {
    my $plan = $r->pnotes('Apache::ranges') // return;
    my $range = $plan->{ranges}[ $plan->{next}++ ];
    if ( defined $plan->{boundary} ) {
        my $is_first_after = $plan->{next} == @{ $plan->{ranges} } + 1;
        $r->print( $range ? part( $plan, $range ) : $is_first_after ? tail($plan) : '' );
    }
    return $range ? @$range : ();
}

1;

__END__

=head1 NAME

Apache::File::Ranges - partial responses

=head1 DESCRIPTION

Implements C<< $r->set_byterange >> and C<< $r->each_byterange >> of L<Apache::File>.

=cut
