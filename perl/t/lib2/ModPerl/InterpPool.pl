use v5.36;

return {
    refused => [ sub ($r) { 'loaded' }, qr/\Adied: ModPerl::InterpPool is not available: .*MaxRequestWorkers/ ],
};
