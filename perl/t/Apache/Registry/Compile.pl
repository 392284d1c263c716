# Apache::Registry::Compile: compiles subs, reports errors, and selects the warnings to log; run by packages.t

use v5.36;

sub My::Compiling::warnings_of ($text) {
    my @warnings;
    local $SIG{__WARN__} = sub { push @warnings, @_ };
    my $hook = $SIG{__WARN__};
    Apache::Registry::Compile::compile($text);
    return join '', @warnings, $SIG{__WARN__} == $hook ? '' : 'the hook is another';
}

return {
    compile_defines_subs                  => [ sub ($r) { Apache::Registry::Compile::compile('sub My::Compiling::one { "one" }'); My::Compiling::one() }, 'one' ],
    a_syntax_error_has_file_and_line      => [ sub ($r) { Apache::Registry::Compile::compile("#line 7 \"script\"\n1 +"); $@ }, qr/\Asyntax error at script line 7/ ],
    the_code_runs_without_strict          => [ sub ($r) { Apache::Registry::Compile::compile('$undeclared = 7; 1'); $@ }, '' ],
    an_unshared_variable_is_reported_once => [
        sub ($r) { My::Compiling::warnings_of("use warnings; no warnings 'redefine'; sub My::Compiling::a { my (\$x, \$y); sub My::Compiling::b { \$x + \$y } }") },
        qr/\AVariable "\$x" will not stay shared at \(eval \d+\) line 1; nor will \$y\.\n\z/,
    ],
    a_warning_of_the_script_is_passed_on  => [ sub ($r) { My::Compiling::warnings_of('use warnings; my $n = "a" + 1;') }, qr/\AArgument "a" isn't numeric in addition \(\+\) at \(eval \d+\) line 1\.\n\z/ ],
    compile_restores_the_warn_handler     => [ sub ($r) { local $SIG{__WARN__}; Apache::Registry::Compile::compile('1'); defined $SIG{__WARN__} ? 'left' : 'none' }, 'none' ],
    a_die_in_begin_is_an_error            => [ sub ($r) { My::Compiling::warnings_of('BEGIN { die "in BEGIN\n" }') . $@ }, qr/\Ain BEGIN\nBEGIN failed--compilation aborted/ ],
};
