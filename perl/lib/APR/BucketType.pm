package APR::BucketType;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::BucketType - the kind of a bucket

=head1 SYNOPSIS

    print $bucket->type->name;    # EOS, FLUSH, HEAP, mod_perl SV bucket

=head1 DESCRIPTION

C<name> is the type's name.

=cut
