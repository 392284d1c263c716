package Apache::DProf;

use v5.36;

use Apache     ();
use File::Path ();

our $VERSION = '0.16';

# Bits of $^P (perlvar): subs are called through DB::sub, and record their place.
my $SUBS_AND_PLACES = 0x01 | 0x10;

# A placeholder until a worker loads the profiler: code compiled from now on calls it.
package DB {
    our ( $sub, $single );
    no strict 'refs';
    sub sub { return &$sub }
    sub DB  { return }
}

my $folder = $ENV{APACHE_DPROF_PATH_ABSOLUTE} // Apache->server_root_relative( $ENV{APACHE_DPROF_PATH} // 'logs/dprof' );
File::Path::remove_tree($folder) if $ENV{APACHE_DPROF_CLEANUP};

$^P |= $SUBS_AND_PLACES;    ## no critic: what perl -d does
Apache->push_handlers( PerlChildInitHandler => \&handler );

# Devel::DProf opens its file when it is loaded, and writes it in an END block.
sub handler {
    my $own = "$folder/$$";
    File::Path::make_path($own);
    chdir $own or die "Apache::DProf: $own: $!\n";
    require Devel::DProf;
    no warnings 'redefine';
    local $^W = 0;
    Devel::DProf->import;
    chdir $Apache::Server::CWD;
    return 0;
}

1;

__END__

=head1 NAME

Apache::DProf - a profile of each worker

=head1 SYNOPSIS

    # before the modules to be profiled
    PerlModule Apache::DProf
    PerlModule My::Handler

    % cd logs/dprof/8123 && dprofpp

=head1 DESCRIPTION

Runs L<Devel::DProf> (libdevel-dprof-perl) in each worker. It writes F<tmon.out> in
F<logs/dprof/PID> below C<ServerRoot> when the worker ends. The workers' user must be able to write
to the folder. With C<PerlSetEnv>, C<APACHE_DPROF_PATH> sets another folder below C<ServerRoot>,
C<APACHE_DPROF_PATH_ABSOLUTE> one anywhere; C<APACHE_DPROF_CLEANUP> empties the folder at the start.

Code that was compiled before this module is not profiled.

=cut
