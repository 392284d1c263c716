package APR::OS;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::OS - the number of the thread

=head1 SYNOPSIS

    print APR::OS::current_thread_id();

=head1 DESCRIPTION

As the system counts them.

=cut
