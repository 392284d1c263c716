# APR::Error: an exception has libapr's number, text and comparison; run by packages.t

use v5.36;

sub My::Errors::one { return APR::Error->new( rc => 2, func => 'My::func', file => 'file', line => 7 ) }

return {
    an_error_is_its_number                   => [ sub ($r) { my $e = My::Errors::one(); join '|', $e == 2 ? 1 : 0, $e != 3 ? 1 : 0, 0 + $e, $e->num, $e ? 'true' : 'false' }, '1|1|2|2|true' ],
    an_error_as_text_names_function_and_line => [ sub ($r) { "@{[ My::Errors::one() ]}" }, 'My::func: (2) No such file or directory at file line 7' ],
    errors_of_one_number_are_equal           => [ sub ($r) { ( My::Errors::one() == My::Errors::one() ? 1 : 0 ) . ( My::Errors::one() eq My::Errors::one() ? 1 : 0 ) }, '11' ],
    croak_dies_with_the_error                => [ sub ($r) { eval { APR::Error::croak( My::Errors::one() ) }; "$@" }, qr/\AMy::func: \(2\) No such file or directory at / ],
    an_error_without_a_number_is_false       => [ sub ($r) { APR::Error->new( rc => 0, func => 'f', file => 'x', line => 1 ) ? 'true' : 'false' }, 'false' ],
    leaks_nothing                            => [ sub ($r) { TestServer::growth( sub { eval { die My::Errors::one() }; "$@" } ) }, 'steady' ],
};
