package Apache::PassFile;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK DECLINED NOT_FOUND FORBIDDEN);
use Cameleer::Regular ();

our $VERSION = '0.10';
our $BUFFERSIZE = 65_536;

# Prints the request's file to STDOUT, so that it passes the links of a chain.
sub handler {
    my $r    = $_[-1];
    my $file = $r->filename;
    return DECLINED if -d $file;
    if ( !-e _ ) {
        $r->log_reason( 'there is no such file', $file );
        return NOT_FOUND;
    }
    my $handle = Cameleer::Regular::opened($file) or return refused( $r, $file, "$!" );
    $r->send_http_header( $r->content_type );
    return OK if $r->header_only;
    while ( read $handle, my $chunk, $BUFFERSIZE ) { print $chunk }
    return OK;
}

sub refused ( $r, $file, $why ) {
    $r->log_reason( $why, $file );
    return FORBIDDEN;
}

1;

__END__

=head1 NAME

Apache::PassFile - prints a file, at the end of a chain of handlers

=head1 SYNOPSIS

    PerlHandler Apache::OutputChain Apache::GzipChain Apache::PassFile

=head1 DESCRIPTION

The producer for L<Apache::OutputChain>: sends the header with the server's content type for the
file, then the file. A folder is declined; a missing file gives 404, an unreadable one 403.

=cut
