package APR::Request::Decode;

use v5.36;
use re 'taint';

use APR::Error   ();
use Scalar::Util ();

# Decoding of form data, and the statuses for invalid data.

# apr's statuses: not parsed yet, more to come, end of input too early, invalid argument.
use constant { EINIT => 70_022, INCOMPLETE => 70_008, EOF => 70_014, EBADARG => 70_013 };

# libapreq's statuses begin where apr leaves numbers to applications.
our %TEXTS = (
    120_000 => 'Internal apreq error',
    120_001 => 'Attempt to perform unsafe action with tainted data',
    120_002 => 'Parsing interrupted',
    120_010 => 'Malformed input data',
    120_011 => 'Invalid character',
    120_012 => 'Invalid byte sequence',
    120_013 => 'Unrecognized attribute',
    120_014 => 'Malformed header string',
    120_015 => 'Invalid utf8 encoding',
    120_020 => 'Missing input data',
    120_021 => 'Expected token not present',
    120_022 => 'Missing attribute',
    120_023 => 'Missing header',
    120_024 => 'Missing parser',
    120_030 => 'Conflicting information',
    120_031 => 'Exceeds configured maximum limit',
    120_032 => 'Below configured minimum limit',
    120_033 => 'Setting already configured',
);

our %NUMBERS = (
    GENERAL   => 120_000, TAINTED   => 120_001, INTERRUPT => 120_002, BADDATA  => 120_010, BADCHAR  => 120_011, BADSEQ => 120_012,
    BADATTR   => 120_013, BADHEADER => 120_014, BADUTF8   => 120_015, NODATA   => 120_020, NOTOKEN  => 120_021, NOATTR => 120_022,
    NOHEADER  => 120_023, NOPARSER  => 120_024, MISMATCH  => 120_030, OVERLIMIT => 120_031, UNDERLIMIT => 120_032, NOTEMPTY => 120_033,
);

# Statuses that are no errors: no such input, or the input is not completely parsed.
my %IS_NONE = map { ( $_ => 1 ) } 0, INCOMPLETE, EINIT, @NUMBERS{qw(NODATA NOPARSER NOHEADER)};

sub is_error ($status) { return !$IS_NONE{ 0 + $status } }

sub status_text ($status) { return $TEXTS{$status} // APR::Error::strerror($status) }

# A status as a number whose string is the message.
sub status_value ($status) { return Scalar::Util::dualvar( $status, status_text($status) ) }

sub encoded ($text) {
    utf8::encode($text) if utf8::is_utf8($text);
    return $text =~ s/([^A-Za-z0-9._~ -])/sprintf '%%%02X', ord $1/ger =~ tr/ /+/r;
}

# Returns the text as far as it is valid, and a status: INCOMPLETE if it ends within an escape.
sub decoded ($text) {
    utf8::encode($text) if utf8::is_utf8($text);
    my $status = 0;
    $text =~ tr/+/ /;
    if ( $text =~ /%(?![0-9A-Fa-f]{2}|[uU][0-9A-Fa-f]{4})/ ) {
        my $rest = substr $text, $-[0];
        $text   = substr $text, 0, $-[0];
        $status = $rest =~ /\A%(?:[0-9A-Fa-f]?|[uU][0-9A-Fa-f]{0,3})\z/ ? INCOMPLETE : $NUMBERS{BADSEQ};
    }
    $text =~ s/%(?:([0-9A-Fa-f]{2})|.([0-9A-Fa-f]{4}))/defined $1 ? chr hex $1 : _character($2)/seg;
    return ( $text, $status );
}

# `%u20AC` as UTF-8; half of a surrogate pair becomes U+FFFD.
sub _character ($digits) {
    my $number = hex $digits;
    my $text   = chr( $number >= 0xD800 && $number <= 0xDFFF ? 0xFFFD : $number );
    utf8::encode($text);
    return $text;
}

# Matches `name = value` or `name = "value"`, up to the next attribute. Possessive quantifiers avoid
# backtracking: a header may be long, and each part of this pattern could match its blanks.
my $ATTRIBUTE = do {
    my $token  = qr/[^=;,\x00-\x20\x7f]++/;
    my $word   = qr/[^;,\x00-\x20\x7f]++/;
    my $quoted = qr/"((?>[^"\\\x00-\x1f\x7f]++|\\.)*+)"/;
    qr/[ \t]*+((?:$token|[ ]++(?![\t=;,]|\z))*+)[ \t]*+(?:=[ \t]*+(?:$quoted|((?!")$word(?:[ ]++$word)*+|))[ \t]*+)?+(?:[;,]|\z)/;
};

# Returns the value of an attribute in a header, or undef, and a status.
sub attribute ( $header, $wanted ) {
    while ( $header =~ /\G$ATTRIBUTE/gc ) {    # the \G at the front preserves perl's taint
        my ( $name, $value ) = ( $1, $2 // $3 );
        return ( undef, $NUMBERS{BADATTR} ) if $name eq '' && defined $value;
        return ( $value, 0 ) if lc $name eq $wanted && defined $value;
        return ( undef, $NUMBERS{NOATTR} ) if pos $header == length $header;
    }
    return ( undef, $NUMBERS{BADSEQ} );
}

1;

__END__

=head1 NAME

APR::Request::Decode - texts of forms, and the statuses of L<APR::Request>

=cut
