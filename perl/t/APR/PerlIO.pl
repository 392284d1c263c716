# APR::PerlIO: the layer :APR reads and writes lines and reports errors; run by packages.t

use v5.36;

return {
    the_layer_writes_and_reads_lines => [ sub ($r) { my $path = TestServer::own_file('layered'); open my $io, '+>:APR', $path or die $!; print {$io} "one\ntwo\n"; seek $io, 0, 0; my @lines = <$io>; @lines . $lines[1] }, "2two\n" ],
    a_missing_file_is_an_error       => [ sub ($r) { open( my $io, '<:APR', '/no/such' ) ? 'opened' : 0 + $! }, '2' ],
    layers_are_enabled               => [ sub ($r) { APR::PerlIO::PERLIO_LAYERS_ARE_ENABLED() ? 'enabled' : 'none' }, 'enabled' ],
    leaks_nothing                    => [ sub ($r) { my $path = TestServer::own_file('page.txt'); TestServer::growth( sub { open my $io, '<:APR', $path or die $!; my $line = <$io> } ) }, 'steady' ],
};
