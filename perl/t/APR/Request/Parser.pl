# APR::Request::Parser: parses queries, bodies and headers in pieces, and selects a parser by type; run by packages.t

use v5.36;

sub My::Parser::fields ( $status, $store ) { return join '|', $status, map {"$_->{name}=$_->{value}"} $store->all }

sub My::Parser::fed ( $kind, @pieces ) {
    my ( $parser, $store, $status ) = ( APR::Request::Parser->$kind( undef, undef, 'application/x-www-form-urlencoded' ), APR::Request::Store->new, 0 );
    while (@pieces) { my $piece = shift @pieces; $status = $parser->feed( $store, $piece, !@pieces ) }
    return My::Parser::fields( $status, $store );
}

return {
    a_query_has_names_without_values  => [ sub ($r) { My::Parser::fields( APR::Request::Parser::query('a=1&b;c=x%20y&&=z') ) }, '0|a=1|b=|c=x y|=z=' ],
    an_invalid_escape_ends_the_query  => [ sub ($r) { My::Parser::fields( APR::Request::Parser::query('a=1&b=%zz&c=3') ) }, '120012|a=1' ],
    too_many_fields_are_an_error      => [ sub ($r) { ( APR::Request::Parser::query( join '&', ('a=1') x 10_001 ) )[0] }, '120031' ],
    a_form_in_pieces_is_parsed        => [ sub ($r) { My::Parser::fed( 'urlencoded', 'a', '=1', '&b=x%2', '0y', '' ) }, '0|a=1|b=x y' ],
    a_header_in_pieces_is_parsed      => [ sub ($r) { My::Parser::fed( 'headers', "A: 1\r\nB:", " 2\r\n\r\n" ) }, '0|A=1|B=2' ],
    a_content_type_selects_the_parser => [ sub ($r) { join '|', map { ref( APR::Request::Parser->default( undef, undef, $_ ) // '' ) || 'none' } 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain' }, 'APR::Request::Parser::urlencoded|APR::Request::Parser::multipart|none' ],
    leaks_nothing                     => [ sub ($r) { TestServer::growth( sub { My::Parser::fed( 'urlencoded', 'a=1&b=2', '' ) } ) }, 'steady' ],
};
