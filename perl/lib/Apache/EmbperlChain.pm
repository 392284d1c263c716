package Apache::EmbperlChain;

use v5.36;

die "Apache::EmbperlChain: HTML::Embperl is a module in C linked against httpd, which cannot be loaded here. "
    . "Use another template module behind Apache::OutputChain, or run Embperl as a CGI program with cgi-script.\n";

__END__

=head1 NAME

Apache::EmbperlChain - says that Embperl is out of reach

=head1 DESCRIPTION

Loading it dies with what to do instead. L<Apache::OutputChain> and L<Apache::GzipChain> work with every handler that
prints.

=cut
