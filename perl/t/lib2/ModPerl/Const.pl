use v5.36;

return { exit => [ sub ($r) { ModPerl::Const->import( -compile => 'EXIT' ); ModPerl::EXIT() }, '120000' ] };
