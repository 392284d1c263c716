package APR;

use v5.36;
use XSLoader ();

# The object has a name of its own: mod_perl 2 has an APR.so, too, which fits only its own modules.
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

Loads the compiled half of the C<APR::> modules, which is the same in the server and in a plain
perl. The structures are those of Debian's libapr1 and libaprutil1. An object whose pool has ended
throws an exception when it is used.

=cut
