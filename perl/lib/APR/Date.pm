package APR::Date;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::Date - dates of HTTP and mail as seconds since 1970

=head1 SYNOPSIS

    my $time = APR::Date::parse_http('Sun, 06 Nov 1994 08:49:37 GMT');
    my $sent = APR::Date::parse_rfc('Sun, 6 Nov 94 8:49:37 GMT');

=head1 DESCRIPTION

C<parse_http> parses the three formats of HTTP, C<parse_rfc> also those of mail. Both return 0 for
an invalid date.

=cut
