package ModPerl::TiPool;

use v5.36;

die "ModPerl::TiPool is not available: workers are processes with one interpreter each; use MaxRequestWorkers, StartServers and MinSpareServers\n";

__END__

=head1 NAME

ModPerl::TiPool - not available

=head1 DESCRIPTION

Loading this module dies with a message about alternatives: mod_perl 2's own file of that name would
have no effect here.

=cut
