# Cameleer::Event: finds the class that serves an application; run by packages.t

use v5.36;

sub My::Event::refusal ($value) { eval { Cameleer::Event->accept( $value, '/app' ); 1 } ? 'accepted' : $@ =~ s/ for PsgiMode.*//sr }

return {
    a_value_of_no_class_is_refused => [ sub ($r) { My::Event::refusal( bless {}, 'My::Event::Other' ) }, qr{\A/app: its last value is no application of Mojolicious, PAGI or PSGI} ],
    an_error_of_the_file_is_passed_on => [ sub ($r) { eval { local $@ = "broken\n"; Cameleer::Event->accept( undef, '/app' ) }; $@ }, "broken\n" ],
    without_an_application_no_loop_runs => [ sub ($r) { eval { Cameleer::Event::run('0 30') }; $@ }, "PsgiMode event: the pool has no PsgiApp\n" ],
    a_worker_without_a_loop_has_no_port => [ sub ($r) { join '|', Cameleer::Event::descriptor(), map { $_ ? 1 : 0 } Cameleer::Event::orders() }, '-1|0' ],
};
