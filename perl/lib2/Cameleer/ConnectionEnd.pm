package Cameleer::ConnectionEnd;

use v5.36;

use APR::Brigade      ();
use APR::Bucket       ();
use APR::Const -compile => qw(EOF ENOTIMPL);
use APR::Error        ();
use Apache2::Filter   ();
use Cameleer::Filters ();

our @ISA = ('Apache2::Filter');

# Bytes per read (PIECE), and longest line: a longer one is split.
use constant { map { $_ => Cameleer::Filters->can($_)->() } qw(PIECE MODE_READBYTES MODE_GETLINE MODE_EATCRLF MODE_SPECULATIVE MODE_INIT) };

# The end of a connection's filter chain, which has no filters: brigades are read from and written to the
# client's socket.
sub of ( $c, $way ) {
    return Cameleer::ModPerl2::of_request($c)->{"end_$way"} //=
        bless { number => $$c, way => $way, core => 1, socket => $c->client_socket, ahead => '' }, __PACKAGE__;
}

sub c ($f) { return bless \( my $number = $f->{number} ), 'Apache2::Connection' }

sub get_brigade ( $f, $brigade, $mode = MODE_READBYTES, $block = 0, $length = PIECE ) {
    my ( $status, $bytes ) = _take( $f, $mode, $length );
    $brigade->insert_tail( APR::Bucket->new( $brigade->bucket_alloc, $bytes ) ) if length $bytes;
    Cameleer::Filters::raise( $status, 'Apache2::Filter::get_brigade' ) if $status && !defined wantarray;
    return $status;
}

sub _take ( $f, $mode, $length ) {
    return ( 0, '' ) if $mode == MODE_INIT;
    if ( $mode == MODE_EATCRLF ) {
        $f->{ahead} =~ s/\A[\r\n]+//;
        return ( 0, '' );
    }
    # Reading to the end of the connection would have no limit.
    return ( APR::Const::ENOTIMPL, '' ) if $mode != MODE_READBYTES && $mode != MODE_GETLINE && $mode != MODE_SPECULATIVE || $length < 1;
    my $status = 0;
    $status = _more($f) while !$status && !_is_enough( $f, $mode );
    return ( $status, '' ) if !length $f->{ahead};
    my $end = $mode == MODE_GETLINE ? _end_of_line( $f->{ahead} ) : $length;
    my $bytes = substr $f->{ahead}, 0, $end;
    substr( $f->{ahead}, 0, $end, '' ) if $mode != MODE_SPECULATIVE;
    Apache->taint($bytes);
    return ( 0, $bytes );
}

sub _end_of_line ($text) {
    my $end = 1 + index $text, "\n";
    return $end < 1 || $end > PIECE ? PIECE : $end;
}

sub _is_enough ( $f, $mode ) {
    return length $f->{ahead} if $mode != MODE_GETLINE;
    return length $f->{ahead} >= PIECE || index( $f->{ahead}, "\n" ) >= 0;
}

# Waits as long as the socket's timeout.
sub _more ($f) {
    my $read = eval { $f->{socket}->recv( my $bytes, PIECE ); $f->{ahead} .= $bytes; length $bytes };
    return defined $read ? ( $read ? 0 : APR::Const::EOF ) : _failed($f);
}

sub pass_brigade ( $f, $brigade ) {
    my $status = 0;
    for ( my $bucket = $brigade->first ; $bucket && !$status ; $bucket = $brigade->next($bucket) ) {
        next if $bucket->is_eos || $bucket->is_flush || !$bucket->read( my $bytes );
        $status = _send( $f, $bytes );
    }
    $brigade->cleanup;
    Cameleer::Filters::raise( $status, 'Apache2::Filter::pass_brigade' ) if $status && !defined wantarray;
    return $status;
}

# The kernel may accept only a part of the bytes.
sub _send ( $f, $bytes ) {
    for ( my $sent = 0 ; $sent < length $bytes ; ) {
        $sent += eval { $f->{socket}->send( substr $bytes, $sent ) } // return _failed($f);
    }
    return 0;
}

# The status of an APR error; rethrows other errors.
sub _failed ($f) {
    my $error = $@;
    die $error unless ref $error && eval { $error->isa('APR::Error') };
    Cameleer::ModPerl2::of_request( $f->c )->{aborted} = 1;
    return $error->{rc};
}

1;

__END__

=head1 NAME

Cameleer::ConnectionEnd - C<< $c->input_filters >> and C<< $c->output_filters >> of a PerlProcessConnectionHandler

=head1 SYNOPSIS

    my $brigade = APR::Brigade->new( $c->pool, $c->bucket_alloc );
    my $status  = $c->input_filters->get_brigade( $brigade, Apache2::Const::MODE_GETLINE );
    $c->output_filters->fflush($brigade);

=head1 DESCRIPTION

A line that is longer than 8192 bytes is split. C<MODE_EXHAUSTIVE> returns C<APR::Const::ENOTIMPL>:
it would read until the client closes the connection.

=cut
