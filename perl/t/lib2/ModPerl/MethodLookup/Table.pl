use v5.36;

return {
    names => [ sub ($r) { require ModPerl::MethodLookup; join '|', grep { /\A(?:dir_config|no_such)\z/ } ModPerl::MethodLookup::avail_methods() }, 'dir_config' ],
};
