# ModPerl::RegistryLoader: compiles a script before its first request; run by packages.t

use v5.36;

return { loaded => [ sub ($r) { ModPerl::RegistryLoader->new( package => 'ModPerl::Registry' )->handler( '/script.pl', $ENV{TEST_FOLDER} . '/script.pl' ) }, '0' ] };
