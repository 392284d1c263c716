# ModPerl::Const: the constant of an exit; run by packages.t

use v5.36;

return { exit => [ sub ($r) { ModPerl::Const->import( -compile => 'EXIT' ); ModPerl::EXIT() }, '120000' ] };
