# Apache::AuthenHook: loading the package dies with a replacement; run by packages.t

use v5.36;

return {
    loading_dies_with_advice => [ sub ($r) { 'loaded' }, qr/\Adied: Apache::AuthenHook is a module in C.* Name the code that checks passwords in PerlAuthenHandler/ ],
};
