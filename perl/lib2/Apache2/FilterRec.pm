package Apache2::FilterRec;

use v5.36;

sub name ($record) { return $$record }

1;

__END__

=head1 NAME

Apache2::FilterRec - the kind of a filter

=head1 SYNOPSIS

    use Apache2::FilterRec ();

    my $name = $f->frec->name;    # modperl_request_output

=head1 DESCRIPTION

Filters in Perl are C<modperl_request_output> and C<modperl_request_input>. After the response
filters, the server is one filter here and several in httpd: code that follows C<< $f->next >> finds
it under httpd's names, C<byterange content_length http_header http_outerror core>. Once the head is
made, C<byterange> and C<http_header> are gone. A subrequest has C<subreq_core> before those of its
main request. The last body filter is C<core_in>.

=cut
