package APR::UUID;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

# Does nothing when called by name: the object ends with its last variable.
sub DESTROY { return }

1;

__END__

=head1 NAME

APR::UUID - unique identifiers

=head1 SYNOPSIS

    my $text = APR::UUID->new->format;
    my $uuid = APR::UUID->parse($text);

=head1 DESCRIPTION

C<parse> throws if the text is no UUID.

=cut
