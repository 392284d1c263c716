package Apache2::ConnectionUtil;

use v5.36;

use Apache2::Connection ();

1;

__END__

=head1 NAME

Apache2::ConnectionUtil - C<< $c->pnotes >>: see L<Apache2::Connection>

=cut
