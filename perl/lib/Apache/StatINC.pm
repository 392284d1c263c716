package Apache::StatINC;

use v5.36;

use Apache            ();
use Apache::Constants qw(OK);
use Apache::Symbol    ();
use Time::HiRes       ();

our $Debug;

my $loaded = Time::HiRes::time();
my %mtime;

# PerlInitHandler: what changed on disk is loaded again.
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

# A file counts as unchanged since this module was loaded until it was looked at once.
sub has_changed ($file) {
    return if !defined $file || ref $file;
    my $now    = ( Time::HiRes::stat($file) )[9] // return;
    my $before = $mtime{$file} // $loaded;
    $mtime{$file} = $now;
    return $now > $before;
}

# Code that cannot be compiled leaves the old in place.
sub reload ($name) {
    my $file = delete $INC{$name};
    local $^W = 0;
    no warnings 'redefine';
    return if eval { require $name };
    Apache::log_error("Apache::StatINC: $name stays as it was: $@");
    delete $INC{$name};    # perl left a mark there that nothing can be assigned to
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

Apache::StatINC - loads changed modules again, while one develops

=head1 SYNOPSIS

    PerlModule Apache::StatINC
    PerlInitHandler Apache::StatINC
    PerlSetVar StatINC_Debug 1
    PerlSetVar StatINC_UndefOnReload On

=head1 DESCRIPTION

Before each request every file in C<%INC> is looked at; one that has changed is loaded again. A file that dies keeps
its old code, with a line in the error log. With C<StatINC_UndefOnReload> the module's subs are emptied first.
C<StatINC_Debug>, C<StatINCDebug> or C<$Apache::StatINC::Debug> logs each.

A look costs a stat for each module: not for sites that people visit. C<cameleer reload> loads everything anew without
that.

=cut
