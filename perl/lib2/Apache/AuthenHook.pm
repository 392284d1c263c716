package Apache::AuthenHook;

use v5.36;

die "Apache::AuthenHook is a module in C linked against httpd, which cannot be loaded here. "
    . "Name the code that checks passwords in PerlAuthenHandler.\n";

__END__

=head1 NAME

Apache::AuthenHook - not available: it needs httpd

=head1 DESCRIPTION

Loading this module dies with a message about alternatives: it needs functions that only httpd has.
In a PerlAuthenHandler, C<< $r->get_basic_auth_pw >> returns the password, and C<<
$r->note_basic_auth_failure >> asks for it.

=cut
