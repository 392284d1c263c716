# Apache2::Resource: sets the limits that the environment names; run by packages.t

use v5.36;

return { limits => [ sub ($r) { local $ENV{PERL_RLIMIT_CORE} = '0:0'; Apache2::Resource::handler($r); require BSD::Resource; ( BSD::Resource::getrlimit( BSD::Resource::RLIMIT_CORE() ) )[0] }, qr/\A0\z|BSD/ ] };
