# APR::XSLoader: loads the C part of a package, or nothing; run by packages.t

use v5.36;

return { a_missing_package_is_undef => [ sub ($r) { APR::XSLoader::load('No::Such') // 'undef' }, 'undef' ], loaded => [ sub ($r) { APR::XSLoader::BOOTSTRAP() }, '1' ] };
