package Apache2::porting;

use v5.36;

die "Apache2::porting is not offered: warnings for mod_perl 1 code are what `cameleer check --compat` says\n";

__END__

=head1 NAME

Apache2::porting - not offered

=head1 DESCRIPTION

Loading it ends with a sentence that says what to use instead: mod_perl 2's own file of that name is an empty shell here.

=cut
