package Apache2::HookRun;

use v5.36;

die "Apache2::HookRun is not offered: the server runs the phases itself: let a subrequest (Apache2::SubRequest) go through them\n";

__END__

=head1 NAME

Apache2::HookRun - not offered

=head1 DESCRIPTION

Loading it ends with a sentence that says what to use instead: mod_perl 2's own file of that name is an empty shell here.

=cut
