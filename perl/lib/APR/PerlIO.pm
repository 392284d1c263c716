package APR::PerlIO;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::PerlIO - files of apr behind handles of Perl

=head1 SYNOPSIS

    open my $out, '>:APR', '/tmp/scratch', APR::Pool->new or die $!;
    print {$out} 'text';
    close $out;

=head1 DESCRIPTION

The layer C<:APR> for C<open>. The pool may be left out: the handle closes the file, not the pool.
C<APR::PerlIO::PERLIO_LAYERS_ARE_ENABLED> is true.

=cut
