package APR::PerlIO;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::PerlIO - an open layer over apr's files

=head1 SYNOPSIS

    open my $out, '>:APR', '/tmp/scratch', APR::Pool->new or die $!;
    print {$out} 'text';
    close $out;

=head1 DESCRIPTION

The layer C<:APR> for C<open>. The pool is optional: closing the handle closes the file, the pool's
end does not. C<APR::PerlIO::PERLIO_LAYERS_ARE_ENABLED> is true.

=cut
