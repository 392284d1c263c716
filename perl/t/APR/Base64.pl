# APR::Base64: encodes and decodes all bytes, and decodes invalid input to nothing; run by packages.t

use v5.36;

return {
    encode_gives_base64             => [ sub ($r) { join '|', map { APR::Base64::encode($_) } 'text', '', "\0\xff" }, 'dGV4dA==||AP8=' ],
    decode_undoes_encode            => [ sub ($r) { my $all = join '', map {chr} 0 .. 255; APR::Base64::decode( APR::Base64::encode($all) ) eq $all ? 'same' : 'other' }, 'same' ],
    encode_len_is_long_enough       => [ sub ($r) { length( APR::Base64::encode('text') ) <= APR::Base64::encode_len(4) ? 'fits' : 'short' }, 'fits' ],
    decode_ignores_other_characters => [ sub ($r) { length APR::Base64::decode('!!!') }, '0' ],
    leaks_nothing                   => [ sub ($r) { TestServer::growth( sub { APR::Base64::decode( APR::Base64::encode('text') ) } ) }, 'steady' ],
};
