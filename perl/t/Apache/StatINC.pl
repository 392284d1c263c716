# Apache::StatINC: loads changed modules anew, and keeps those that did not change; run by packages.t

use v5.36;

# Loads a module of this text from the server's folder under a name of %INC.
sub My::Changing::load ($text) {
    $INC{'My/Changing/Module.pm'} = TestServer::own_file( 'Module.pm', $text );
    do $INC{'My/Changing/Module.pm'} or die $@;
    return;
}

sub My::Changing::again ($text) {
    my $path = TestServer::own_file( 'Module.pm', $text );
    local @INC = sub ( $own, $name ) { open my $in, '<', $path or die $!; return $in };
    Apache::StatINC::reload('My/Changing/Module.pm');
    return My::Changing::Module::word();
}

return {
    a_changed_module_is_loaded_again  => [ sub ($r) { My::Changing::load('sub My::Changing::Module::word { "old" } 1'); My::Changing::again('sub My::Changing::Module::word { "new" } 1') }, 'new' ],
    a_syntax_error_keeps_the_old_subs => [ sub ($r) { My::Changing::load('sub My::Changing::Module::word { "old" } 1'); My::Changing::again('sub My::Changing::Module::word { "new" ') . ( -f $INC{'My/Changing/Module.pm'} ? ' known' : '' ) }, 'old known' ],
    a_die_keeps_the_old_subs          => [ sub ($r) { My::Changing::load('sub My::Changing::Module::word { "old" } 1'); My::Changing::again('die "on loading\n"') }, 'old' ],
    an_unchanged_file_has_not_changed => [ sub ($r) { my $path = TestServer::own_file( 'still.pl', '1' ); Apache::StatINC::has_changed($path); Apache::StatINC::has_changed($path) ? 'changed' : 'same' }, 'same' ],
    a_touched_file_has_changed        => [ sub ($r) { my $path = TestServer::own_file( 'touched.pl', '1' ); Apache::StatINC::has_changed($path); utime time + 9, time + 9, $path; Apache::StatINC::has_changed($path) ? 'changed' : 'same' }, 'changed' ],
    only_files_can_change             => [ sub ($r) { join '|', map { Apache::StatINC::has_changed($_) ? 'changed' : 'same' } undef, sub { 1 }, '/no/such' }, 'same|same|same' ],
    empty_removes_the_subs            => [ sub ($r) { eval 'package My::Emptied; sub one { 1 } 1'; Apache::StatINC::empty('My/Emptied.pm'); defined &My::Emptied::one ? 'there' : 'gone' }, 'gone' ],    ## no critic: a package at run time
};
