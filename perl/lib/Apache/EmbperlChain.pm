package Apache::EmbperlChain;

use v5.36;

die "Apache::EmbperlChain: HTML::Embperl is a module in C linked against httpd, which cannot be loaded here. "
    . "Use another template module behind Apache::OutputChain, or run Embperl as a CGI program with cgi-script.\n";

__END__

=head1 NAME

Apache::EmbperlChain - not available: Embperl needs httpd

=head1 DESCRIPTION

Loading this module dies with a message about alternatives. L<Apache::OutputChain> and
L<Apache::GzipChain> work with every handler that prints.

=cut
