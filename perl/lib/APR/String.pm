package APR::String;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::String - sizes as four characters

=head1 SYNOPSIS

    print APR::String::format_size(42_000);    # " 41K"

=head1 DESCRIPTION

Bytes, K, M, G.

=cut
