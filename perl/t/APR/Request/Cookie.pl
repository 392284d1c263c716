# APR::Request::Cookie: the header line of a cookie, its attributes and its errors; run by packages.t

use v5.36;

sub My::Baked::of (%fields) { require APR::Pool; return APR::Request::Cookie->new( APR::Pool->new, %fields ) }

return {
    as_string_has_all_attributes        => [ sub ($r) { My::Baked::of( name => 'n', value => 'v', path => '/', domain => 'example.org', secure => 1, httponly => 1 )->as_string }, 'n=v; path=/; domain=example.org; secure; HttpOnly' ],
    names_may_begin_with_a_dash         => [ sub ($r) { My::Baked::of( -name => 'n', -value => 'v', -path => '/x' )->as_string }, 'n=v; path=/x' ],
    a_cookie_of_version_1_has_a_max_age => [ sub ($r) { My::Baked::of( name => 'n', value => 'v', version => 1, path => '/', expires => '+1h' )->as_string }, 'n=v; Version=1; path="/"; max-age=3600' ],
    expires_is_a_date                   => [ sub ($r) { My::Baked::of( name => 'n', value => 'v', expires => 'now' )->as_string }, qr/\An=v; expires=\w{3}, \d\d-\w{3}-\d{4} \d\d:\d\d:\d\d GMT\z/ ],
    an_age_has_a_unit                   => [ sub ($r) { join '|', map { APR::Request::Cookie::_age($_) } '+3M', '2d', '-5', '1m', 'x' }, '7776000|172800|-5|60|0' ],
    name_and_value_are_required         => [ sub ($r) { join '|', map { defined My::Baked::of(@$_) ? 'made' : 'none' } [ name => 'n' ], [ value => 'v' ], [ name => 'n', value => '' ] }, 'none|none|made' ],
    a_setter_returns_the_old_value      => [ sub ($r) { my $c = My::Baked::of( name => 'n', value => 'v' ); join '|', $c->path('/a') // 'undef', $c->path, $c->secure(1), $c->secure, "$c" }, 'undef|/a|0|1|v' ],
    an_unknown_attribute_dies           => [ sub ($r) { eval { My::Baked::of( name => 'n', value => 'v', nonsense => 1 ) }; $@ }, qr/\ACan't locate object method "nonsense"/ ],
    leaks_nothing                       => [ sub ($r) { TestServer::growth( sub { My::Baked::of( name => 'n', value => 'v', expires => '+1h' )->as_string } ) }, 'steady' ],
};
