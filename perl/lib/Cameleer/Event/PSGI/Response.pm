package Cameleer::Event::PSGI::Response;

use v5.36;
use Scalar::Util ();

# Checks of a response, and its head. An application can return anything, so that each value is checked before a byte is
# written: a line feed in a field would begin another one.

my $TOKEN = qr/\A[!#\$%&'*+.^_`|~0-9A-Za-z-]+\z/;

# Fields that belong to the connection between worker and front, besides those of Cameleer. An application may ask the front
# to hold its response.
my %NOT_SENT = map { $_ => 1 } qw(connection keep-alive upgrade transfer-encoding content-length);

# Dies unless this is a response with a body, or, for a responder, one without.
sub check ( $response, $is_delayed ) {
    ref $response eq 'ARRAY' && ( @$response == 3 || $is_delayed && @$response == 2 )
      or die 'PSGI: the application returned ' . Cameleer::PSGI::described($response) . ", not a response\n";
    my ( $status, $headers, $body ) = @$response;
    ref $headers eq 'ARRAY' or die "PSGI: expected a status and an array of headers\n";
    return if @$response == 2 || ref $body eq 'ARRAY' || can_be_read($body);
    die 'PSGI: the body is ' . Cameleer::PSGI::described($body) . ", neither an array nor an object with getline\n";
}

sub can_be_read ($body) {
    return 1 if Scalar::Util::blessed($body) && $body->can('getline');
    my $type = Scalar::Util::reftype($body) // '';
    return $type eq 'GLOB' || $type eq 'IO';
}

sub status ($status) {
    my $number = defined $status && $status =~ /\A\s*([0-9]{3})\b/ ? $1 : 0;
    $number >= 100 or die 'PSGI: the status is ' . Cameleer::PSGI::described($status) . ", expected a number from 200 to 999\n";
    $number >= 200 or die "PSGI: the application answered with status $number, which is informational\n";
    return $number;
}

# The value as bytes; an empty string for undef.
sub bytes ($value) {
    return '' if !defined $value;
    my $bytes = "$value";
    utf8::downgrade( $bytes, 1 ) or die "PSGI: wide character in the response: encode it to bytes first\n";
    return $bytes;
}

# The fields that are sent, as text, and those about the length by name.
sub fields ($headers) {
    my ( $text, %framing ) = ('');
    for ( my $i = 0 ; $i < @$headers ; $i += 2 ) {    ## no critic: pairs
        my ( $name, $value ) = map { bytes($_) } @$headers[ $i, $i + 1 ];
        $name =~ $TOKEN && $value !~ /[\r\n\0]/
          or die "PSGI: the response's header \"$name\" is not allowed in HTTP; remove line breaks and NULs\n";
        my $lower = lc $name;
        $framing{$lower} = $value;
        $text .= "$name: $value\r\n" if !$NOT_SENT{$lower} && $lower !~ /\Acameleer-(?!(?:hold|channel)\z)/;
    }
    return ( $text, \%framing );
}

# The length of a body, if it is known.
sub length_of ($body) {
    return undef if ref $body ne 'ARRAY';    ## no critic: a value in each context
    my $length = 0;
    $length += length bytes($_) for @$body;
    return $length;
}

1;
