# ModPerl::RegistryBB: runs a script, and declines without one; run by packages.t

use v5.36;

return {
    runs                         => [ sub ($r) { $r->filename( $ENV{TEST_FOLDER} . '/script.pl' ); my $status = ModPerl::RegistryBB->handler($r); $status ? " $status" : '' }, 'of a script' ],
    a_missing_script_is_declined => [ sub ($r) { $r->filename( $ENV{TEST_FOLDER} . '/none.pl' ); ModPerl::RegistryBB->handler($r) }, '-1' ],
};
