# Apache::Registry::Script: runs a compiled script with its DATA, warnings and END blocks; run by packages.t

use v5.36;

my $number = 0;

# Compiles this text as a script of a package of its own.
sub My::Script::of ($text) {
    require Apache::Registry;
    my $file = TestServer::own_file( 'script-' . ++$number, $text );
    return Apache::Registry::Script->new( "My::Script::N$number", $file, 5 );
}

return {
    run_prints_the_output                      => [ sub ($r) { My::Script::of('print "of a script"')->run($r); '' }, 'of a script' ],
    a_script_gets_the_request                  => [ sub ($r) { My::Script::of('my $r = shift; print ref $r, __PACKAGE__ =~ /N\d+\z/ ? 1 : 0')->run($r); '' }, 'Apache1' ],
    a_die_has_the_scripts_line                 => [ sub ($r) { eval { My::Script::of("\n\ndie 'here'")->run($r) }; $@ }, qr{\Ahere at \S+/script-\d+ line 3\.\n\z} ],
    a_syntax_error_dies                        => [ sub ($r) { eval { My::Script::of("\n1 +;") }; $@ }, qr{\Asyntax error at \S+/script-\d+ line 2} ],
    each_run_reads_the_data_from_its_start     => [ sub ($r) { my $s = My::Script::of("print <DATA>;\n__DATA__\nthe data\n"); $s->run($r) for 1 .. 2; '' }, "the data\nthe data\n" ],
    the_switch_w_turns_warnings_on_for_the_run => [ sub ($r) { My::Script::of("#!/usr/bin/perl -w\nprint \$^W")->run($r); $^W }, '10' ],
    a_dying_end_block_stops_no_other           => [ sub ($r) { my $s = My::Script::of('print "run "; END { print "one " } END { die "two\n" }'); $s->run($r); $s->run_end_blocks; '' }, 'run one ' ],
    a_new_time_is_another_script               => [ sub ($r) { my $s = My::Script::of('1'); join '|', map { $_ ? 'same' : 'other' } $s->is_of( $s->{file}, 5 ), $s->is_of( $s->{file}, 6 ), $s->is_of( 'other', 5 ) }, 'same|other|other' ],
    a_missing_file_dies                        => [ sub ($r) { eval { Apache::Registry::Script->new( 'My::None', '/no/such', 1 ) }; $@ }, "cannot open /no/such: No such file or directory\n" ],
    run_leaks_nothing                          => [ sub ($r) { my $s = My::Script::of('my @own = (1, 2); @own'); TestServer::growth( sub { $s->run($r) } ) }, 'steady' ],
};
