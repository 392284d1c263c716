# ModPerl::MethodLookup::Table: the table has the names of the API; run by packages.t

use v5.36;

return {
    names => [ sub ($r) { require ModPerl::MethodLookup; join '|', grep { /\A(?:dir_config|no_such)\z/ } ModPerl::MethodLookup::avail_methods() }, 'dir_config' ],
};
