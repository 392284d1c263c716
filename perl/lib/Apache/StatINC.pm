package Apache::StatINC;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK);
use Apache::Symbol    ();
use Time::HiRes       ();

our $Debug;

my $loaded = Time::HiRes::time();
my %mtime;

# PerlInitHandler: reloads changed modules.
sub handler {
    my $r     = $_[-1];
    my $debug = $Debug // $r->dir_config('StatINC_Debug') // $r->dir_config('StatINCDebug');
    for my $name ( grep { has_changed( $INC{$_} ) } keys %INC ) {
        empty($name) if ( $r->dir_config('StatINC_UndefOnReload') // 'off' ) !~ /\A(?:off|0)?\z/i;
        reload($name);
        Apache::warn("Apache::StatINC: pid=$$ loaded $name again") if $debug;
    }
    return OK;
}

# A file that was not checked yet is compared with the time when this module was loaded.
sub has_changed ($file) {
    return if !defined $file || ref $file;
    my $now    = ( Time::HiRes::stat($file) )[9] // return;
    my $before = $mtime{$file} // $loaded;
    $mtime{$file} = $now;
    return $now > $before;
}

# If the new code does not compile, the old code is retained.
sub reload ($name) {
    my $file = delete $INC{$name};
    local $^W = 0;
    no warnings 'redefine';
    return if eval { require $name };
    Apache::log_error("Apache::StatINC: cannot reload $name, the loaded version stays: $@");
    delete $INC{$name};    # after an error, perl has stored a read-only value for the name
    $INC{$name} = $file;
    return;
}

sub empty ($name) {
    Apache::Symbol::undef_functions( $name =~ s{/}{::}gr =~ s/\.pm\z//r );
    return;
}

1;

__END__

=head1 NAME

Apache::StatINC - reloads changed modules during development

=head1 SYNOPSIS

    PerlModule Apache::StatINC
    PerlInitHandler Apache::StatINC
    PerlSetVar StatINC_Debug 1
    PerlSetVar StatINC_UndefOnReload On

=head1 DESCRIPTION

Before each request every file in C<%INC> is checked; a changed one is reloaded. If that fails, the
error is logged, and subs that perl had not yet compiled again stay as they were. With
C<StatINC_UndefOnReload> the module's subs are emptied first. C<StatINC_Debug>, C<StatINCDebug> or
C<$Apache::StatINC::Debug> logs each reload.

The checks cost a stat for each module: do not use this on production sites. C<cameleer reload>
reloads all code without that cost.

=cut
