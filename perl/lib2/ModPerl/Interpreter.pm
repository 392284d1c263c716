package ModPerl::Interpreter;

use v5.36;

die "ModPerl::Interpreter is not offered: workers are processes with one interpreter each: a pool of them is MaxRequestWorkers, StartServers and MinSpareServers\n";

__END__

=head1 NAME

ModPerl::Interpreter - not offered

=head1 DESCRIPTION

Loading it ends with a sentence that says what to use instead: mod_perl 2's own file of that name is an empty shell here.

=cut
