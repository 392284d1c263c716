# APR::URI: parses, changes and writes URLs without their password; run by packages.t

use v5.36;

sub My::Addresses::of ($text) { require APR::Pool; return APR::URI->parse( APR::Pool->new, $text ) }

return {
    parse_finds_all_parts      => [ sub ($r) { my $u = My::Addresses::of('http://user:secret@example.org:8000/path?query#part'); join '|', map { $u->$_ } qw(scheme user password hostname port path query fragment hostinfo) }, 'http|user|secret|example.org|8000|/path|query|part|user:secret@example.org:8000' ],
    unparse_hides_the_password => [ sub ($r) { My::Addresses::of('http://user:secret@example.org/')->unparse }, 'http://user@example.org/' ],
    setters_change_the_url     => [ sub ($r) { my $u = My::Addresses::of('http://h/a?b'); my $old = $u->query(undef); $u->path('/c'); "$old " . $u->unparse }, 'b http://h/c' ],
    a_missing_part_is_undef    => [ sub ($r) { my $u = My::Addresses::of('/path'); join '|', map { $u->$_ // 'undef' } qw(scheme hostname query) }, 'undef|undef|undef' ],
    a_scheme_has_its_port      => [ sub ($r) { join '|', map { APR::URI::port_of_scheme($_) } qw(http https none) }, '80|443|0' ],
    leaks_nothing              => [ sub ($r) { TestServer::growth( sub { My::Addresses::of('http://h/a?b')->unparse } ) }, 'steady' ],
};
