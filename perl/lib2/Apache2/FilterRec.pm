package Apache2::FilterRec;

use v5.36;

sub name ($record) { return $$record }

1;

__END__

=head1 NAME

Apache2::FilterRec - what kind of filter one is

=head1 SYNOPSIS

    use Apache2::FilterRec ();

    my $name = $f->frec->name;    # modperl_request_output

=head1 DESCRIPTION

Filters in Perl are C<modperl_request_output> and C<modperl_request_input>; the server itself, at the end of each chain, is C<core> and
C<core_in>.

=cut
