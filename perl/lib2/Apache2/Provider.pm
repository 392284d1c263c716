package Apache2::Provider;

use v5.36;

die "Apache2::Provider is not offered: the server asks Perl by PerlAuthenHandler and PerlAuthzHandler: name your code there\n";

__END__

=head1 NAME

Apache2::Provider - not offered

=head1 DESCRIPTION

Loading it ends with a sentence that says what to use instead: mod_perl 2's own file of that name is an empty shell here.

=cut
