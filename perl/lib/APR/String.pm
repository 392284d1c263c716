package APR::String;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::String - sizes formatted in four characters

=head1 SYNOPSIS

    print APR::String::format_size(42_000);    # " 41K"

=head1 DESCRIPTION

The unit is bytes, K, M or G.

=cut
