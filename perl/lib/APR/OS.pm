package APR::OS;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::OS - the current thread's id

=head1 SYNOPSIS

    print APR::OS::current_thread_id();

=head1 DESCRIPTION

C<current_thread_id> returns the operating system's id of the thread.

=cut
