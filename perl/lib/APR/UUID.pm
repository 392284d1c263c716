package APR::UUID;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

# Called by name it does nothing: the last variable ends it.
sub DESTROY { return }

1;

__END__

=head1 NAME

APR::UUID - identifiers that no other has

=head1 SYNOPSIS

    my $text = APR::UUID->new->format;
    my $uuid = APR::UUID->parse($text);

=head1 DESCRIPTION

What is none throws.

=cut
