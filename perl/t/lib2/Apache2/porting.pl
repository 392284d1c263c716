# Apache2::porting: which packages belong to the API; run by packages.t

use v5.36;

return {
    only_packages_of_the_api_are_ours => [ sub ($r) { join '|', map { Apache2::porting::_is_ours($_) ? 1 : 0 } qw(Apache2::RequestRec APR::Table My::Own) }, '1|1|0' ],
};
