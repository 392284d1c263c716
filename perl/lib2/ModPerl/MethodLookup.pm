package ModPerl::MethodLookup;

use v5.36;

die "ModPerl::MethodLookup is not offered: say use for the module that has the method: the manual of mod_perl 2 names it\n";

__END__

=head1 NAME

ModPerl::MethodLookup - not offered

=head1 DESCRIPTION

Loading it ends with a sentence that says what to use instead: mod_perl 2's own file of that name is an empty shell here.

=cut
