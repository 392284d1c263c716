# ModPerl::MethodLookup: finds the module of a method, and the methods of a module; run by packages.t

use v5.36;

return {
    module  => [ sub ($r) { ( ModPerl::MethodLookup::lookup_method('dir_config') )[1] ? join ' ', ( ModPerl::MethodLookup::lookup_method('dir_config') )[0] : 'none' }, qr/Apache2::RequestUtil/ ],
    object  => [ sub ($r) { ( ModPerl::MethodLookup::lookup_method( 'print', $r ) )[0] }, qr/Apache2::RequestIO/ ],
    methods => [ sub ($r) { ( ModPerl::MethodLookup::lookup_module('Apache2::Log') )[0] }, qr/log_error/ ],
    unknown => [ sub ($r) { ( ModPerl::MethodLookup::lookup_method('no_such_method') )[0] }, qr/no_such_method/ ],
};
