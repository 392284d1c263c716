# Apache::Options: exports the OPT_ constants, and no unknown names; run by packages.t

use v5.36;

return {
    import_offers_the_options => [ sub ($r) { package My::Options; Apache::Options->import; join '|', map { My::Options->can($_)->() } qw(OPT_NONE OPT_INDEXES OPT_EXECCGI OPT_ALL) }, '0|1|8|15' ],
    an_unknown_option_dies    => [ sub ($r) { eval { Apache::Options->import('OPT_NONSENSE'); 1 } ? 'imported' : 'died' }, 'died' ],
};
