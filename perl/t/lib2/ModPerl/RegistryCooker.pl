# ModPerl::RegistryCooker: names the package of a script, and offers constants to subclasses; run by packages.t

use v5.36;

return {
    namespace => [ sub ($r) { $r->filename('/a/script.pl'); my $o = ModPerl::RegistryCooker->new($r); $o->namespace_from_filename }, 'a_script.pl' ],
    constants => [ sub ($r) { join '|', ModPerl::RegistryCooker::TRUE(), ModPerl::RegistryCooker::FALSE(), ModPerl::RegistryCooker::NOP() }, '1|0|' ],
};
