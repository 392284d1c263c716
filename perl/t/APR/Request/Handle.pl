# APR::Request::Handle: sets limits and the folder of uploads, and parses query, body and cookies; run by packages.t

use v5.36;

return {
    read_limit_can_only_be_lowered => [ sub ($r) { my $h = APR::Request::Handle->new; join '|', $h->set( read_limit => '1M' ), $h->{read_limit}, $h->set( read_limit => '2M' ), $h->{read_limit} }, '0|1048576|120030|1048576' ],
    temp_dir_can_be_set_once       => [ sub ($r) { my $h = APR::Request::Handle->new; join '|', $h->set( temp_dir => '/a' ), $h->set( temp_dir => '/b' ), $h->{temp_dir} }, '0|120033|/a' ],
    a_size_has_a_unit              => [ sub ($r) { join '|', map { APR::Request::Handle::_bytes($_) } '64K', '1m', '5', 'x', undef }, '65536|1048576|5|0|0' ],
    the_query_is_parsed            => [ sub ($r) { my ( $status, $store ) = APR::Request::Handle::Texts->new( query => 'a=1&a=2' )->parsed('args'); "$status " . $store->all }, '0 2' ],
    a_missing_input_has_no_values  => [ sub ($r) { my ( $status, $store ) = APR::Request::Handle::Texts->new->parsed('jar'); $status . ( defined $store ? ' there' : ' none' ) }, '120020 none' ],
    a_missing_body_has_a_status    => [ sub ($r) { ( APR::Request::Handle::Texts->new->parsed('body') )[0] }, '120020' ],
};
