# Apache2::Provider: loading the package dies with a replacement; run by packages.t

use v5.36;

return {
    loading_dies_with_advice => [ sub ($r) { 'loaded' }, qr/\Adied: Apache2::Provider is not available; .*PerlAuthenHandler or PerlAuthzHandler/ ],
};
