package APR::Request::Apache2;

use v5.36;

use APR::Request         ();
use APR::Request::Handle ();
use Apache2::RequestRec  ();
use Cameleer::ModPerl2   ();
use Cameleer::Pools      ();
use List::Util           ();

our @ISA     = ('APR::Request');
our $VERSION = '2.17';

# Makes an object for the request. Parsed data belongs to the request, and all its objects share it.
sub handle ( $class, $r ) {
    $r->can('number') && defined eval { $r->number } or Cameleer::ModPerl2::croak("$class: expected an Apache2::RequestRec of a current request");
    return bless \( my $number = $r->number ), $class;
}

sub _handle ($self) {
    my $r = bless \( my $number = $$self ), 'Apache2::RequestRec';
    return Cameleer::ModPerl2::of_request($r)->{libapreq} //= APR::Request::Handle::Apache2->of($r);
}

package APR::Request::Handle::Apache2;

our @ISA = ('APR::Request::Handle');

use constant M_GET => 0;

# After an internal redirect, the request has the first request's body, and its parsed data.
sub of ( $class, $r ) {
    my $before = $r->prev;
    my %body;
    if ( $before && ( my $known = Cameleer::ModPerl2::of_request($before)->{libapreq} ) ) {
        my @kept = grep { exists $known->{$_} } qw(body body_status parser bytes_read temp_dir at);
        @body{@kept} = @$known{@kept};
    }
    return $class->new( _limits($r), %body, r => $r );
}

# The limits set by directives for this location: the lowest of several limits, otherwise the last setting.
sub _limits ($r) {
    my $set    = Apache::dir_config($r);
    my %limits = map { ( $_ => [ $set->get("APREQ2_$_") ] ) } qw(ReadLimit BrigadeLimit TempDir);
    my %fields = ( read_limit => List::Util::min( @{ $limits{ReadLimit} } ), brigade_limit => $limits{BrigadeLimit}[-1], temp_dir => $limits{TempDir}[-1] );
    return map { defined $fields{$_} ? ( $_ => $fields{$_} ) : () } keys %fields;
}

sub pool         ($self) { return Cameleer::Pools::of_request( $self->{r} ) }
sub query_string ($self) { return scalar $self->{r}->args }

sub cookie_header ($self) {
    my @headers = $self->{r}->headers_in->get('Cookie') or return undef;    ## no critic: a scalar is expected
    my $text    = join ', ', @headers;
    Apache->taint($text);    # values of a table are not tainted
    return $text;
}

sub content_type   ($self) { return scalar $self->{r}->headers_in->get('Content-Type') }
sub content_length ($self) { return scalar $self->{r}->headers_in->get('Content-Length') }

# A GET's body has no meaning, and a subrequest's body is its main request's.
sub refusal ($self) {
    my $r = $self->{r};
    return $APR::Request::Decode::NUMBERS{NODATA} if $r->method_number == M_GET;
    my $status = $self->SUPER::refusal;
    Apache::log_error( $r, 'libapreq: the body has ' . $self->content_length . " bytes, and the limit is $self->{read_limit}" ) if $status;
    return $status;
}

# Reads from the parser's own position in STDIN, and restores the position afterwards: parsed data can still be
# read.
sub read_piece ( $self, $length ) {
    my $r = $self->{r};
    my $kept = Cameleer::ModPerl2::of_request($r);
    Cameleer::Filters::spool_body(undef) if $kept->{filters} && $kept->{filters}{input};
    $r->want_cleanup;    # removes an upload's file after the request
    my $place = tell STDIN;
    seek STDIN, $self->{at} // 0, 0;
    Apache::read_body( $r, my $piece, $length );
    $self->{at} += length $piece;
    seek STDIN, $place < 0 ? 0 : $place, 0;
    return $piece;
}

1;

__END__

=head1 NAME

APR::Request::Apache2 - L<APR::Request> for requests of mod_perl 2

=head1 SYNOPSIS

    my $req = APR::Request::Apache2->handle($r);
    print $req->param('name');

=head1 DESCRIPTION

All objects of one request share parsed data and limits. Parsing does not consume the body: C<<
$r->read >> reads all of it, before and after. After an internal redirect the body is that of the
first request.

=cut
