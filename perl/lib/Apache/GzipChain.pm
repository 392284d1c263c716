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
    my $text = join $, // '', map { $_ // '' } @text;
    $text = $self->behind_header($text) if $self->{r}->expects_header;
    return 1 if $text eq '';
    my $ready = ( $self->{gzip} //= Cameleer::Gzip->new )->add($text);
    return $ready eq '' ? 1 : $self->Apache::OutputChain::PRINT($ready);
}

# With PerlSendHeader On a script prints its header: the header is buffered until text follows, and sent without fields
# that compression invalidates. Returns the text.
sub behind_header ( $self, $text ) {
    $self->{header} .= $text;
    $self->{header} =~ /\A(.*?\n)\r?\n(.+)/s or return '';
    my ( $header, $rest ) = ( $1, $2 );
    delete $self->{header};
    $self->Apache::OutputChain::PRINT( $header =~ s/^(?:Content-Length|ETag|Accept-Ranges):.*\n//gimr, "\n" );
    return $rest;
}

# When the producer printed no text, as for a redirect or an error, there is no archive.
sub finish ($self) {
    return $self->Apache::OutputChain::PRINT( $self->{gzip}->end ) if $self->{gzip};
    $self->{r}->content_encoding(undef);
    $self->Apache::OutputChain::PRINT( $self->{header} ) if defined $self->{header};
    return;
}

1;

__END__

=head1 NAME

Apache::GzipChain - compresses the output of other handlers

=head1 SYNOPSIS

    <Files *.html>
        SetHandler perl-script
        PerlHandler Apache::OutputChain Apache::GzipChain Apache::PassFile
    </Files>

=head1 DESCRIPTION

A link of L<Apache::OutputChain>. Compresses for clients that accept gzip (C<Accept-Encoding>, with
its weights), and sets C<Content-Encoding> and C<Vary>; other clients get uncompressed text. The
header that a script prints under C<PerlSendHeader On> is not compressed.

=head1 DIFFERENCES

There is no list of old browsers that misunderstood gzip.

=cut
