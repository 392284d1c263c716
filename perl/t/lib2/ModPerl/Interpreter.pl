# ModPerl::Interpreter: loading the package dies with a replacement; run by packages.t

use v5.36;

return {
    loading_dies_with_advice => [ sub ($r) { 'loaded' }, qr/\Adied: ModPerl::Interpreter is not available: .*MaxRequestWorkers/ ],
};
