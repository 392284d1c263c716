package APR::Base64;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::Base64 - base64 encoding

=head1 SYNOPSIS

    my $encoded = APR::Base64::encode('text');
    my $length  = APR::Base64::encode_len(4);
    my $text    = APR::Base64::decode($encoded);

=head1 DESCRIPTION

C<encode_len(LENGTH)> is the length of the encoding of C<LENGTH> bytes.

=cut
