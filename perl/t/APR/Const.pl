# APR::Const: imports constants and groups, and refuses unknown ones; run by packages.t

use v5.36;

return {
    compile_makes_subs_without_import => [ sub ($r) { APR::Const->import( -compile => qw(:common TIMEUP) ); join '|', map { APR::Const->can($_) ? $_ : "no $_" } qw(SUCCESS TIMEUP) }, 'SUCCESS|TIMEUP' ],
    import_makes_subs_in_the_caller   => [ sub ($r) { package My::AprConst; APR::Const->import(':table'); join '|', map { My::AprConst->can($_)->() } qw(OVERLAP_TABLES_SET OVERLAP_TABLES_MERGE) }, '0|1' ],
    an_unknown_constant_dies          => [ sub ($r) { eval { APR::Const->import('NO_SUCH') }; $@ }, qr/\Aunknown APR::Const constant NO_SUCH at \S+Const\.pl line \d+/ ],
    an_unknown_group_dies             => [ sub ($r) { eval { APR::Const->import(':no_such') }; $@ }, qr/\Aunknown APR::Const group `no_such'/ ],
};
