# APR::Request::Hook: hooks discard, refuse or pass on the pieces of an upload; run by packages.t

use v5.36;

sub My::Hooked::field { require APR::Request; require APR::Request::Value; return APR::Request::Value->new( name => 'n', value => 'v' ) }

return {
    disable_uploads_fails_an_upload => [ sub ($r) { my $hook = APR::Request::Hook->disable_uploads(undef); join '|', $hook->run( My::Hooked::field(), \my $bytes, 1 ), $hook->run( My::Hooked::field() ) }, '120000|0' ],
    discard_brigade_drops_the_bytes => [ sub ($r) { my $bytes = 'text'; APR::Request::Hook->discard_brigade(undef)->run( My::Hooked::field(), \$bytes, 1 ); "[$bytes]" }, '[]' ],
    a_hook_gets_name_and_bytes      => [ sub ($r) { my @seen; my $bytes = 'text'; APR::Request::Hook->calling( sub ( $field, $piece, $length, @data ) { push @seen, $field->name, $piece // 'end', $length, @data }, 'x' )->run( My::Hooked::field(), \$bytes, 1 ); join '|', @seen }, 'n|text|4|x|n|end|0|x' ],
    a_dying_hook_fails_the_upload   => [ sub ($r) { my $said; local $SIG{__WARN__} = sub { $said = "@_" }; my $bytes = 'text'; APR::Request::Hook->calling( sub { die "in the hook\n" } )->run( My::Hooked::field(), \$bytes, 1 ) . " $said" }, "120000 Upload hook failed: in the hook\n" ],
    append_makes_a_chain            => [ sub ($r) { my $seen = 0; my $hook = APR::Request::Hook->discard_brigade(undef); $hook->append( APR::Request::Hook->calling( sub { $seen++ } ) ); my $bytes = 'text'; $hook->run( My::Hooked::field(), \$bytes, 0 ); $seen }, '1' ],
    apr_xml_parser_dies_with_advice => [ sub ($r) { eval { APR::Request::Hook->apr_xml_parser }; $@ }, qr/\AAPR::Request::Hook->apr_xml_parser is not available/ ],
    leaks_nothing                   => [ sub ($r) { TestServer::growth( sub { my $bytes = 'x'; APR::Request::Hook->calling( sub { 1 } )->run( My::Hooked::field(), \$bytes, 1 ) } ) }, 'steady' ],
};
