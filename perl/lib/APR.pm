package APR;

use v5.36;
use XSLoader ();

# The shared object has another name than mod_perl 2's APR.so, which works only with its own modules.
XSLoader::load('Cameleer::APR');

# The exceptions of all methods.
require APR::Error;

1;

__END__

=head1 NAME

APR - the Apache Portable Runtime for Perl

=head1 SYNOPSIS

    use APR ();
    use APR::Pool  ();
    use APR::Table ();

    my $table = APR::Table::make( APR::Pool->new, 10 );
    $table->{'Content-Type'} = 'text/plain';

=head1 DESCRIPTION

Loads the compiled half of the C<APR::> modules, which is the same in the server and in a plain perl. The structures are
those of Debian's libapr1 and libaprutil1. Using an object after its pool has ended throws an exception.

=cut
