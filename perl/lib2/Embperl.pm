package Embperl;

use v5.36;

die "Embperl is a module in C linked against httpd, which cannot be loaded here. "
    . "Use HTML::Mason, Apache::ASP or Template, or run Embperl as a CGI program with cgi-script.\n";

__END__

=head1 NAME

Embperl - not available: it needs httpd

=head1 DESCRIPTION

Loading this module dies with a message about alternatives: it needs functions that only httpd has.
L<HTML::Mason>, L<Apache::ASP> and L<Template> work.

=cut
