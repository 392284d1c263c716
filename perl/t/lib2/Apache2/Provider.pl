use v5.36;

return {
    refused => [ sub ($r) { 'loaded' }, qr/\Adied: Apache2::Provider is not available: .*PerlAuthenHandler or PerlAuthzHandler/ ],
};
