# APR::Request: parameters, body and cookies of a request, limits and invalid input; run by packages.t

use v5.36;

# The request of these texts.
sub My::Custom::of ( $query, $cookies = undef, $body = undef, $limit = 1_000_000 ) {
    require "APR/$_.pm" for qw(Pool BucketAlloc Bucket Brigade Request/Parser);
    my $pool    = APR::Pool->new;
    my $brigade = APR::Brigade->new( $pool, APR::BucketAlloc->new($pool) );
    $brigade->insert_tail( APR::Bucket->new( $brigade->bucket_alloc, "$body" ) ) if defined $body;
    my $parser = APR::Request::Parser->urlencoded( $pool, $brigade->bucket_alloc, 'application/x-www-form-urlencoded' );
    return APR::Request::Custom->handle( $pool, $query, $cookies, $parser, $limit, defined $body ? $brigade : undef );
}

return {
    scalar_context_gives_the_first_value  => [ sub ($r) { my $q = My::Custom::of('a=1&b=2&A=3'); join '|', scalar $q->param('a'), $q->param('a') }, '1|1|3' ],
    param_without_a_name_lists_all_names  => [ sub ($r) { join '|', My::Custom::of( 'a=1', undef, 'b=2&a=3' )->param }, 'a|b|a' ],
    body_and_args_are_separate            => [ sub ($r) { my $q = My::Custom::of( 'a=1', undef, 'b=2&a=3' ); join '|', scalar $q->body('a'), scalar $q->args('a'), 0 + $q->body_status }, '3|1|0' ],
    jar_gives_cookies                     => [ sub ($r) { my $q = My::Custom::of( '', 'session=1; other=2' ); join '|', scalar $q->jar('session'), $q->jar }, '1|session|other' ],
    an_invalid_query_dies_with_its_status => [ sub ($r) { my $q = My::Custom::of('a=1&b=%zz'); my $got = $q->args('a'); eval { my $all = $q->args }; join '|', $got, ref $@, 0 + $q->args_status }, '1|APR::Request::Error|120012' ],
    a_body_over_the_limit_is_an_error     => [ sub ($r) { my $q = My::Custom::of( '', undef, 'b=' . 'x' x 100, 50 ); eval { my $all = $q->body }; join '|', ref $@, 0 + $q->body_status }, 'APR::Request::Error|120031' ],
    no_body_is_undef                      => [ sub ($r) { my $q = My::Custom::of(''); defined $q->body ? 'there' : 'none' }, 'none' ],
    encode_and_decode_are_inverse         => [ sub ($r) { APR::Request::encode("a b&\xe9") . '|' . APR::Request::decode('a+b%26') }, 'a+b%26%E9|a b&' ],
    import_offers_encode_only             => [ sub ($r) { package My::Coding; APR::Request->import('encode'); eval { APR::Request->import('no_such') }; ( My::Coding->can('encode') ? 'there' : 'none' ) . "|$@" }, "there|APR::Request has no no_such\n" ],
    a_foreign_object_dies                 => [ sub ($r) { eval { APR::Request::param( {}, 'a' ) }; $@ }, qr/\Aexpected an APR::Request object, or a hash with one in \{r\} or \{_r\} at / ],
    leaks_nothing                         => [ sub ($r) { TestServer::growth( sub { my $q = My::Custom::of( 'a=1', 'c=1', 'b=2' ); my $all = $q->param; $q->jar('c') } ) }, 'steady' ],
    errors_leak_nothing                   => [ sub ($r) { TestServer::growth( sub { eval { my $all = My::Custom::of('a=%zz')->args }; undef $@ } ) }, 'steady' ],
};
