package Cameleer::Event::PAGI::Check;

use v5.36;

# Checks of the fields of events that an application sends. Each dies with the event's type and the field's name.

my $TOKEN = qr/\A[!#\$%&'*+.^_`|~0-9A-Za-z-]+\z/;

# Characters that are no Unicode scalar values, and cannot be written as UTF-8.
my $NOT_SCALAR = qr/[\x{D800}-\x{DFFF}]|[^\x{0}-\x{10FFFF}]/;

sub type ($event) {
    ref $event eq 'HASH' or die "PAGI: \$send needs a reference to a hash, the event\n";
    my $type = $event->{type};
    defined $type && !ref $type or die "PAGI: an event needs a type\n";
    return $type;
}

sub refused ( $event, $what ) {
    die "PAGI: $event->{type}: $what\n";
}

sub integer ( $event, $name, $default = undef ) {
    my $value = $event->{$name} // $default // refused( $event, "$name is missing" );
    $value =~ /\A[0-9]{1,18}\z/ or refused( $event, "$name is not a non-negative integer" );
    return $value;
}

sub seconds ( $event, $name, $default = undef ) {
    my $value = $event->{$name} // $default // refused( $event, "$name is missing" );
    $value =~ /\A(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,2})?\z/ or refused( $event, "$name is not a number of seconds" );
    return $value;
}

sub status ( $event, $default = undef ) {
    my $status = integer( $event, 'status', $default );
    $status >= 200 && $status <= 999 or refused( $event, "status is $status, expected 200 to 999" );
    return $status;
}

sub text ( $event, $name, $default = undef ) {
    my $value = $event->{$name} // $default // refused( $event, "$name is missing" );
    !ref $value or refused( $event, "$name is not a string" );
    return $value;
}

# A text as UTF-8. Surrogates and numbers beyond Unicode become U+FFFD.
sub utf8 ($text) {
    $text =~ s/$NOT_SCALAR/\x{FFFD}/g if utf8::is_utf8($text);
    utf8::encode($text);
    return $text;
}

# A text of one line, as UTF-8: a line feed would begin another field.
sub line ( $event, $name ) {
    my $value = utf8( text( $event, $name ) );
    $value !~ /[\r\n\0]/ or refused( $event, "$name has a line break or a NUL" );
    return $value;
}

sub bytes ( $event, $name ) {
    my $value = text( $event, $name, '' );
    utf8::downgrade( $value, 1 ) or refused( $event, "$name has characters above 255: encode it" );
    return $value;
}

# The header fields as a list of pairs. A byte that could end a line makes the whole event invalid.
sub headers ($event) {
    my $headers = $event->{headers} // return;
    ref $headers eq 'ARRAY' or refused( $event, 'headers is not a reference to an array' );
    my @pairs;
    for my $pair (@$headers) {
        ref $pair eq 'ARRAY' && @$pair == 2 or refused( $event, 'a header is not a pair of name and value' );
        my ( $name, $value ) = @$pair;
        defined $name && $name =~ $TOKEN or refused( $event, 'the name of a header is not a token' );
        defined $value && !ref $value or refused( $event, "the value of the header $name is not a string" );
        $value !~ /[\r\n\0]/          or refused( $event, "the value of the header $name has a line break or a NUL" );
        utf8::downgrade( $value, 1 )  or refused( $event, "the value of the header $name has characters above 255" );
        push @pairs, [ lc $name, $value ];
    }
    return @pairs;
}

1;
