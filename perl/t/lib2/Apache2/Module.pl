# Apache2::Module: the modules that programs find loaded; run by packages.t

use v5.36;

return {
    loaded => [ sub ($r) { join '|', map { Apache2::Module::loaded($_) } qw(mod_perl.c mod_none.c) }, '1|0' ],
    linked => [ sub ($r) { my $module = Apache2::Module::find_linked_module('mod_perl.c'); join '|', $module->name, $module->ap_api_major_version }, 'mod_perl.c|20120211' ],
    walked => [ sub ($r) { my $n = 0; for ( my $at = Apache2::Module::top_module(); $at; $at = $at->next ) { $n++ if $at->name eq 'mod_perl.c' } $n }, '1' ],
    config => [ sub ($r) { Apache2::Module::get_config( 'My::None', $r->server ) // 'none' }, 'none' ],
};
