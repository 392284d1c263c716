package Apache::Filter;

use v5.36;
use parent 'Apache';

use Apache            ();
use Cameleer::Regular ();

our $VERSION = '1.024';

# The tied handle of STDOUT, with the state of the request's filters: { r, text of the last filter, whether all
# are deterministic }.
my $CHAIN = 'Apache::Filter::Chain';

# Called first in each filter: `$r = $r->filter_register`. Makes STDOUT this filter's output.
sub Apache::filter_register ($r) {
    my $chain = tied *STDOUT;
    $chain = tie *STDOUT, $CHAIN if !$chain || !$chain->isa($CHAIN);
    $chain->next_filter;
    return bless $r, __PACKAGE__;
}

# A handle on the previous filter's output, or on the request's file for the first filter; and a status.
sub filter_input ($r) {
    my ( $input, $status ) = ( tied *STDOUT )->input;
    return wantarray ? ( $input, $status ) : $input;
}

sub print ( $r, @what ) { return print STDOUT @what }    ## no critic: the name is the API's

sub send_http_header ( $r, $type = undef ) {
    $r->content_type($type) if defined $type;
    return;
}

# Sets whether this filter is deterministic; returns whether all filters so far are.
sub deterministic ( $r, @value ) {
    my $chain = tied *STDOUT;
    $chain->{deterministic} &&= $value[0] if @value;
    return $chain->{deterministic} ? 1 : 0;
}

# Whether the response may have changed since `$time`.
sub changed_since ( $r, $time ) {
    return 1 if !$r->deterministic;
    my $changed = ( stat $r->filename )[9] // return 1;
    return $changed > $time ? 1 : 0;
}

# Whether this is the first filter.
sub filter_first ($r) { return ( tied *STDOUT )->{count} <= 1 ? 1 : 0 }

package Apache::Filter::Chain;

use parent -norequire, 'Apache::OutputChain';
use Apache::OutputChain ();
use Apache::Constants   qw(OK NOT_FOUND FORBIDDEN);

sub TIEHANDLE ($class) { return bless { r => Apache->request, text => '', count => 0, deterministic => 1 }, $class }

sub next_filter ($self) {
    ( $self->{before}, $self->{text} ) = ( $self->{text}, '' );
    $self->{count}++;
    return;
}

sub input ($self) {
    if ( $self->{count} > 1 ) {
        open my $text, '<:raw', \$self->{before} or die "cannot open a file in memory: $!\n";
        return ( $text, OK );
    }
    my $file = $self->{r}->filename;
    return ( undef, NOT_FOUND ) if !-e $file;
    return ( undef, FORBIDDEN ) if -d _ || !-r _;
    my $handle = Cameleer::Regular::opened($file) or return ( undef, FORBIDDEN );
    return ( $handle, OK );
}

sub PRINT ( $self, @what ) {
    $self->{text} .= join $, // '',
      map { my $bytes = $_ // ''; utf8::encode($bytes) if utf8::is_utf8($bytes); $bytes } @what;
    return 1;
}

# The last filter's output is the response.
sub finish ($self) {
    $self->{r}->print( $self->{text} ) if $self->{text} ne '';
    return;
}

1;

__END__

=head1 NAME

Apache::Filter - handlers that read the output of the handler before

=head1 SYNOPSIS

    PerlModule Apache::Filter
    PerlHandler My::Upper Apache::Compress
    PerlSetVar Filter On

    package My::Upper;
    sub handler {
        my $r = shift->filter_register;
        my ( $in, $status ) = $r->filter_input;
        return $status unless $status == OK;
        print uc while <$in>;
        return OK;
    }

=head1 DESCRIPTION

The leftmost filter reads the request's file (404 or 403 when it cannot), each next one the output
of the filter before; the last one's output is the response. C<send_http_header> in a filter sets
the content type; the head leaves with the last filter's output, so that each filter may still
change it.

C<deterministic(1)> declares that equal input gives equal output; C<changed_since(TIME)> is then
true only when the file is newer. C<filter_first> is true in the first filter.

=cut
