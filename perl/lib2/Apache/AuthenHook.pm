package Apache::AuthenHook;

use v5.36;

die "Apache::AuthenHook is a module in C linked against httpd, which cannot be loaded here. "
    . "Name the code that checks passwords in PerlAuthenHandler.\n";

__END__

=head1 NAME

Apache::AuthenHook - says what to use instead

=head1 DESCRIPTION

Loading it dies with what to do instead: the module of this name asks for functions that only httpd has. C<< $r->get_basic_auth_pw >> tells
a PerlAuthenHandler the password, and C<< $r->note_basic_auth_failure >> asks for another.

=cut
