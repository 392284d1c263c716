use v5.36;

return { alternatives => [ sub ($r) { 'loaded' }, qr/\Adied: Apache::EmbperlChain: HTML::Embperl is a module in C linked against httpd/ ] };
