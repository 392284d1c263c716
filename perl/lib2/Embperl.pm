package Embperl;

use v5.36;

die "Embperl is a module in C linked against httpd, which cannot be loaded here. "
    . "Use HTML::Mason, Apache::ASP or Template, or run Embperl as a CGI program with cgi-script.\n";

__END__

=head1 NAME

Embperl - says what to use instead

=head1 DESCRIPTION

Loading it dies with what to do instead: the module of this name asks for functions that only httpd has. L<HTML::Mason>, L<Apache::ASP> and L<Template> work.

=cut
