use v5.36;

return {
    refused => [ sub ($r) { 'loaded' }, qr/\Adied: ModPerl::Interpreter is not available: .*MaxRequestWorkers/ ],
};
