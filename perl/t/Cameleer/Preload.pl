# Cameleer::Preload: tries code before the mold loads it; run by packages.t

use v5.36;

# The verdict of a child, as the server calls the package.
sub My::Preload::verdict ( $name, $code, $pretends = '', $file = TestServer::own_file( "$name.pm", $code ) ) {
    # PerlTaintCheck demands both.
    local $ENV{PATH} = '/usr/bin:/bin';
    delete local @ENV{qw(IFS CDPATH ENV BASH_ENV)};
    my ($folder) = $ENV{TEST_FOLDER} =~ /(.+)/s;
    my $child = open( my $answer, '-|' ) // die "fork: $!";
    if ( !$child ) {
        @INC = ( $folder, @INC );
        $pretends ? Cameleer::Preload::pretend_pid() : Cameleer::Preload::begin_trial();
        my $verdict = Cameleer::Preload::try_out("module\0$name.pm\0$file");
        $verdict =~ s/ at .*|\s+\z//s;
        my $keeps = ( Cameleer::Preload::reads_pid('') ? ' reads pid' : '' ) . ( $pretends && Cameleer::Preload::stores_pid('') ? ' stores pid' : '' );
        my $there = Cameleer::Preload::is_loaded("$name.pm") ? ' loaded' : '';
        require POSIX;
        syswrite STDOUT, "($verdict$keeps$there)";
        POSIX::_exit(0);
    }
    my $text = do { local $/; <$answer> };
    close $answer;
    return $text;
}

return {
    a_module_of_subs_is_safe            => [ sub ($r) { My::Preload::verdict( MyPreSafe => 'package MyPreSafe; sub f { $$ } 1;' ) }, '( loaded)' ],
    an_error_leaves_nothing             => [ sub ($r) { My::Preload::verdict( MyPreDies => 'die "no"' ) }, '(dfails: no)' ],
    a_change_of_the_environment_is_seen => [ sub ($r) { My::Preload::verdict( MyPreEnv => '$ENV{MY_PRE} = 1;' ) }, '(echanges %ENV loaded)' ],
    a_change_of_the_folder_is_seen      => [ sub ($r) { My::Preload::verdict( MyPreFolder => 'chdir "/"; 1' ) }, '(echanges the working directory loaded)' ],
    a_handler_of_a_signal_is_seen       => [ sub ($r) { My::Preload::verdict( MyPreSignal => '$SIG{CHLD} = "IGNORE"; 1' ) }, '(echanges %SIG loaded)' ],
    a_handler_of_errors_is_put_back     => [ sub ($r) { My::Preload::verdict( MyPreDie => '$SIG{__DIE__} = sub { }; 1' ) }, '( loaded)' ],
    random_numbers_are_seen             => [ sub ($r) { My::Preload::verdict( MyPreRandom => 'our $seed = rand; 1' ) }, '(edraws random numbers loaded)' ],
    a_timer_is_seen                     => [ sub ($r) { My::Preload::verdict( MyPreTimer => 'alarm 100; 1' ) }, '(estarts a timer loaded)' ],
    a_change_of_inc_is_seen             => [ sub ($r) { My::Preload::verdict( MyPreInc => 'push @INC, "/no"; 1' ) }, '(echanges @INC loaded)' ],
    a_separator_is_seen                 => [ sub ($r) { My::Preload::verdict( MyPreList => '$" = "-"; 1' ) }, '(echanges a separator loaded)' ],
    a_blocked_signal_is_seen            => [ sub ($r) { My::Preload::verdict( MyPreMask => 'use POSIX (); POSIX::sigprocmask( POSIX::SIG_BLOCK(), POSIX::SigSet->new( POSIX::SIGUSR2() ) ); 1' ) }, '(echanges the signal mask loaded)' ],
    a_locale_is_seen                    => [ sub ($r) { My::Preload::verdict( MyPreLocale => 'use POSIX (); POSIX::setlocale( POSIX::LC_ALL(), POSIX::setlocale( POSIX::LC_ALL() ) eq "C" ? "C.UTF-8" : "C" ); 1' ) }, '(echanges the locale loaded)' ],
    an_interval_timer_is_seen           => [ sub ($r) { My::Preload::verdict( MyPreInterval => 'use Time::HiRes (); Time::HiRes::setitimer( Time::HiRes::ITIMER_VIRTUAL(), 100 ); 1' ) }, '(estarts a timer loaded)' ],
    random_numbers_of_others_are_seen   => [ sub ($r) { My::Preload::verdict( MyPreUuid => '$INC{"Data/UUID.pm"} = "/UUID.pm"; 1' ) }, '(edraws random numbers of Data/UUID.pm loaded)' ],
    a_process_is_seen                   => [ sub ($r) { My::Preload::verdict( MyPreFork => 'our $pid = fork // die; POSIX::_exit(0) if !$pid; 1' ) }, '(estarts a process loaded)' ],
    a_socket_is_seen                    => [ sub ($r) { My::Preload::verdict( MyPreSocket => 'use Socket; socket our $s, PF_INET, SOCK_STREAM, 0; 1' ) }, qr/\A\(eopens socket:\[\d+\] \(descriptor \d+\) loaded\)\z/ ],
    a_file_that_is_read_is_fine         => [ sub ($r) { My::Preload::verdict( MyPreReads => 'open our $f, "<", "/etc/passwd"; 1' ) }, '( loaded)' ],
    a_process_id_is_seen                => [ sub ($r) { My::Preload::verdict( MyPrePid => 'package MyPrePid; my $pid = $$; sub pid { $pid } 1' ) }, '( reads pid loaded)' ],
    a_text_with_a_process_id_is_seen    => [ sub ($r) { My::Preload::verdict( MyPreText => 'package MyPreText; our %h = ( name => "tmp-$$" ); 1', 1 ) }, qr/ stores pid loaded\)\z/ ],
    a_file_elsewhere_is_not_loaded      => [ sub ($r) { My::Preload::verdict( MyPreElsewhere => '1', '', '/tmp/MyPreElsewhere.pm' ) }, q{(dfails: the file is not in the mold's @INC)} ],
    load_counts_loaded_modules          => [ sub ($r) { Cameleer::Preload::load( join "\0", 'module', 'Text/Abbrev.pm', $INC{'Text/Abbrev.pm'} // ( grep { -f } map { "$_/Text/Abbrev.pm" } grep { !ref } @INC )[0], 'module', 'No/Such.pm', '/x' ) }, qr/\A1 -?\d+\z/ ],
};
