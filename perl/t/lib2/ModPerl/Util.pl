# ModPerl::Util: the phase, the exit and the removal of packages; run by packages.t

use v5.36;

return {
    phase                 => [ sub ($r) { ModPerl::Util::current_callback() }, 'PerlResponseHandler' ],
    exit_ends_the_request => [ sub ($r) { $r->print('before'); ModPerl::Util::exit(); 'after' }, qr/\Abefore/ ],
    removed               => [ sub ($r) { eval 'package My::Removed; our $x = 1; sub said { 1 } 1' or die $@; ModPerl::Util::unload_package('My::Removed'); My::Removed->can('said') ? 'there' : 'gone' }, 'gone' ],
    id                    => [ sub ($r) { ModPerl::Util::current_perl_id() }, qr/\A0x[0-9a-f]+\z/ ],
};
