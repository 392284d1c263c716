# Apache::EmbperlChain: loading the package dies with a reason; run by packages.t

use v5.36;

return { alternatives => [ sub ($r) { 'loaded' }, qr/\Adied: Apache::EmbperlChain: HTML::Embperl is a module in C linked against httpd/ ] };
