package Apache::Compress;

use v5.36;

use Apache::Constants qw(OK DECLINED NOT_FOUND FORBIDDEN);
use Apache::Filter    ();
use Cameleer::Gzip    ();

our $VERSION = '1.003';

# As the only handler, compresses the request's file; after other filters, compresses their output.
sub handler {
    my $r = $_[-1]->filter_register;
    $r->deterministic(1);
    my ( $input, $status ) = $r->filter_input;
    return $status if $status != OK;
    my $text = do { local $/ = undef; scalar <$input> } // '';
    if ( Cameleer::Gzip::is_accepted($r) && !$r->header_only ) {
        Cameleer::Gzip::announce($r);
        my $gzip = Cameleer::Gzip->new;
        $text = $gzip->add($text) . $gzip->end;
    }
    print $text;
    return OK;
}

1;

__END__

=head1 NAME

Apache::Compress - a filter that compresses files or other filters' output

=head1 SYNOPSIS

    <Files *.html>
        SetHandler perl-script
        PerlHandler Apache::Compress
    </Files>

    PerlHandler My::Filter Apache::Compress

=head1 DESCRIPTION

A filter of L<Apache::Filter>, the last of the list. Clients that do not accept gzip get
uncompressed text.

=cut
