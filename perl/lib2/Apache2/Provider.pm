package Apache2::Provider;

use v5.36;

die "Apache2::Provider is not available; name your code in PerlAuthenHandler or PerlAuthzHandler\n";

__END__

=head1 NAME

Apache2::Provider - not available

=head1 DESCRIPTION

Loading this module dies with a message about alternatives: mod_perl 2's own file of that name would
have no effect here.

=cut
