# APR::Request::Decode: decodes and encodes texts, and parses attributes of headers; run by packages.t

use v5.36;

sub My::Decoded::of ($text) { my ( $said, $status ) = APR::Request::Decode::decoded($text); return "$said $status" }

return {
    escapes_are_decoded                   => [ sub ($r) { join '|', map { My::Decoded::of($_) } 'a+b%26', '%u20AC', '' }, "a b& 0|\xe2\x82\xac 0| 0" ],
    invalid_escapes_are_errors            => [ sub ($r) { join '|', map { My::Decoded::of($_) } 'a%zzb', 'a%4', 'a%' }, 'a 120012|a 70008|a 70008' ],
    decoding_undoes_encoding              => [ sub ($r) { my $all = join '', map {chr} 0 .. 255; ( APR::Request::Decode::decoded( APR::Request::Decode::encoded($all) ) )[0] eq $all ? 'same' : 'other' }, 'same' ],
    a_surrogate_is_replaced               => [ sub ($r) { My::Decoded::of('%ud800') }, "\xef\xbf\xbd 0" ],
    a_status_is_number_and_text           => [ sub ($r) { my $s = APR::Request::Decode::status_value(120_031); ( 0 + $s ) . " $s" }, '120031 Exceeds configured maximum limit' ],
    only_errors_of_the_library_are_errors => [ sub ($r) { join '', map { APR::Request::Decode::is_error($_) ? 1 : 0 } 0, 70_008, 70_022, 120_020, 120_031 }, '00001' ],
    an_attribute_is_quoted_or_bare        => [ sub ($r) { join '|', map { $_ // 'undef' } ( APR::Request::Decode::attribute( 'form-data; name="a b"; filename=c', 'name' ) )[0], ( APR::Request::Decode::attribute( 'form-data; name=x', 'filename' ) ) }, 'a b|undef|120022' ],
    many_blanks_are_refused               => [ sub ($r) { my ( $value, $status ) = APR::Request::Decode::attribute( 'form-data;' . ' ' x 50_000 . '"', 'name' ); $status > 0 ? 'refused' : $value }, 'refused' ],
};
