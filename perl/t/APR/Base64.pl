# APR::Base64: encodes and decodes all bytes, and decodes invalid input to nothing; run by packages.t

use v5.36;

return {
    encodes_texts        => [ sub ($r) { join '|', map { APR::Base64::encode($_) } 'text', '', "\0\xff" }, 'dGV4dA==||AP8=' ],
    decode_undoes_encode => [ sub ($r) { my $all = join '', map {chr} 0 .. 255; APR::Base64::decode( APR::Base64::encode($all) ) eq $all ? 'same' : 'other' }, 'same' ],
    length               => [ sub ($r) { length( APR::Base64::encode('text') ) <= APR::Base64::encode_len(4) ? 'fits' : 'short' }, 'fits' ],
    invalid              => [ sub ($r) { length APR::Base64::decode('!!!') }, '0' ],
    leaks_nothing        => [ sub ($r) { TestServer::growth( sub { APR::Base64::decode( APR::Base64::encode('text') ) } ) }, 'steady' ],
};
