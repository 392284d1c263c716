# Cameleer::Bloat: measures code, and reports code that dies; run by packages.t

use v5.36;

return {
    found_lists_modules_and_variables  => [ sub ($r) { Cameleer::Bloat::begin(''); Cameleer::Bloat::run('require Text::Balanced') . Cameleer::Bloat::found('') }, qr{\A\{"match_variables":\[.*\],"modules":\[.*"Text/Balanced\.pm".*\]\}\z} ],
    run_returns_the_error              => [ sub ($r) { Cameleer::Bloat::run("1;\ndie 'here'") }, "here at (expression) line 2.\n" ],
    run_returns_a_syntax_error         => [ sub ($r) { Cameleer::Bloat::run('1 +') }, qr/\Asyntax error at \(expression\) line 1/ ],
    match_variables_have_file_and_line => [
        sub ($r) {
            eval "#line 7 \"matching\"\nsub My::Bloat::match { 'x' =~ /x/; \$& } 1" or die $@;    ## no critic: a package at run time
            join '|', map {"$_->{variable} $_->{file} $_->{line}"} grep { $_->{file} eq 'matching' } Cameleer::Bloat::match_variables();
        },
        '$& matching 7',
    ],
};
