package Apache::GzipChain;

use v5.36;
use parent 'Apache::OutputChain';

use Apache::Constants qw(OK DECLINED);
use Cameleer::Gzip    ();

our $VERSION = '1.17';

sub handler {
    my $r = $_[-1];
    return DECLINED if $r->header_only || !Cameleer::Gzip::is_accepted($r);
    Cameleer::Gzip::announce($r);
    return Apache::OutputChain::handler( $r, __PACKAGE__ );
}

sub PRINT ( $self, @text ) {
    return 1 if "@text" eq '';
    my $ready = ( $self->{gzip} //= Cameleer::Gzip->new )->add(@text);
    return $ready eq '' ? 1 : $self->Apache::OutputChain::PRINT($ready);
}

# A producer that printed nothing is not an empty archive, but nothing: a redirect, an error.
sub finish ($self) {
    my $gzip = delete $self->{gzip};
    return $gzip ? $self->Apache::OutputChain::PRINT( $gzip->end ) : $self->{r}->content_encoding('');
}

1;

__END__

=head1 NAME

Apache::GzipChain - compresses what other handlers print

=head1 SYNOPSIS

    <Files *.html>
        SetHandler perl-script
        PerlHandler Apache::OutputChain Apache::GzipChain Apache::PassFile
    </Files>

=head1 DESCRIPTION

A link of L<Apache::OutputChain>. Compresses for clients that accept gzip (C<Accept-Encoding>, with its weights), and says so with C<Content-Encoding> and
C<Vary>; for others the text passes as it is.

=head1 DIFFERENCES

No list of browsers that misunderstood gzip twenty years ago. A producer must send its header with C<send_http_header>: one that it prints would be
compressed with the text.

=cut
