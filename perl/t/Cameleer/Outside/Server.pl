# Cameleer::Outside::Server: server and request as code outside the server sees them; run by packages.t

use v5.36;

return {
    request_is_undef                 => [ sub ($r) { my @said = Cameleer::Outside::Apache::request('Apache'); @said . ( $said[0] // 'undef' ) }, '1undef' ],
    server_is_an_object              => [ sub ($r) { ref Cameleer::Outside::Apache::server('Apache') }, 'Apache::Server' ],
    server_root_is_undef             => [ sub ($r) { Cameleer::Outside::Apache::Server::server_root(undef) // 'undef' }, 'undef' ],
    server_software_names_cameleer   => [ sub ($r) { Cameleer::Outside::Apache::Server::server_software(undef) }, qr{\ACameleer mod_perl/1\.} ],
    there_are_no_variables_and_sizes => [ sub ($r) { scalar( () = ( Cameleer::Outside::Apache::Server::variables(undef), Cameleer::Outside::B::TerseSize::op_sizes() ) ) }, '0' ],
    mtime_is_that_of_the_file        => [ sub ($r) { Cameleer::Outside::Apache::Registry::mtime( $INC{'Cameleer/Outside/Server.pm'} ) > 0 ? 'time' : 'none' }, 'time' ],
    mtime_of_a_missing_file_is_undef => [ sub ($r) { Cameleer::Outside::Apache::Registry::mtime('/no/such') // 'undef' }, 'undef' ],
};
