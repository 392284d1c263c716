package APR::Util;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::Util - password hashes, and the last part of a path

=head1 SYNOPSIS

    print 'right' if APR::Util::password_validate( 'secret', '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=' );
    my $name = APR::Util::filepath_name_get('/etc/passwd');

=head1 DESCRIPTION

C<password_validate(PASSWORD, HASH)> understands apr's MD5, SHA1, bcrypt and crypt's hashes.
C<password_get(PROMPT, BUFFER, SIZE)> reads a password from the terminal and returns a status.

=cut
