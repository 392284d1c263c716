package Cameleer::ModPerl1;

use v5.36;

use Carp qw(croak);

# The modules of mod_perl 1's API. The server's own code uses them under mod_perl 2, too, but a site's code must
# not find them: code for both APIs tests `eval { require Apache::Constants }` or $INC{'Apache.pm'}.

# Replacements in mod_perl 2.
my %INSTEAD = (
    'Apache'             => 'Apache2::RequestRec, Apache2::RequestUtil, Apache2::ServerUtil and ModPerl::Util',
    'Apache::Connection' => 'Apache2::Connection',
    'Apache::Constants'  => 'Apache2::Const',
    'Apache::Cookie'     => 'Apache2::Cookie',
    'Apache::File'       => 'Apache2::Response, Apache2::RequestRec and File::Temp',
    'Apache::Log'        => 'Apache2::Log',
    'Apache::PerlRun'    => 'ModPerl::PerlRun',
    'Apache::Registry'   => 'ModPerl::Registry',
    'Apache::Request'    => 'Apache2::Request',
    'Apache::Resource'   => 'Apache2::Resource',
    'Apache::Server'     => 'Apache2::ServerRec and Apache2::ServerUtil',
    'Apache::SizeLimit'  => 'Apache2::SizeLimit',
    'Apache::StatINC'    => 'Apache2::Reload',
    'Apache::Status'     => 'Apache2::Status',
    'Apache::SubProcess' => 'Apache2::SubProcess',
    'Apache::Table'      => 'APR::Table',
    'Apache::URI'        => 'Apache2::URI and APR::URI',
    'Apache::Upload'     => 'Apache2::Upload',
    'Apache::Util'       => 'Apache2::Util, APR::Util and APR::Date',
);

# Modules outside of the API that have the same names in mod_perl 2.
my %IN_BOTH = map { $_ => 1 } qw(Apache::Scoreboard Apache::VMonitor Apache::Peek);

my $LIBRARY  = $INC{'Cameleer.pm'} =~ s{Cameleer\.pm\z}{}r;
my $LIBRARY2 = __FILE__ =~ s{Cameleer/ModPerl1\.pm\z}{}r;

# By file, `Apache/Log.pm`: the modules that this process has loaded.
my %loaded;

# Hides loaded modules, and those that the server's own code loads later.
sub hide {
    for my $file ( grep { _is_hidden($_) } keys %INC ) {
        delete $INC{$file};
        $loaded{$file} = 1;
    }
    unshift @INC, \&_find;
    return;
}

sub _is_hidden ($file) {
    my $module = _module($file);
    return $module =~ /\AApache(?:::|\z)/ && !$IN_BOTH{$module} && -e $LIBRARY . $file;
}

sub _module ($file) { return $file =~ s{/}{::}gr =~ s{\.pm\z}{}r }

# The hook in @INC, before all folders.
sub _find ( $hook, $file ) {
    return if !_is_hidden($file);
    my ( undef, $asking ) = caller;
    return _load($file) if _is_own($asking);
    for my $folder ( grep { !ref && "$_/" ne $LIBRARY } @INC ) {
        next if !-f "$folder/$file" || !open my $theirs, '<', "$folder/$file";
        $INC{$file} = "$folder/$file";
        return $theirs;
    }
    my $module  = _module($file);
    my $instead = $INSTEAD{$module} ? "use $INSTEAD{$module}" : 'mod_perl 2 has no replacement';
    croak "Can't locate $file in \@INC: $module belongs to mod_perl 1's API, and this server uses mod_perl 2's; $instead";
}

# Cameleer.pm loads the site's modules, which the configuration names.
sub _is_own ($asking) {
    return 0 if $asking eq $LIBRARY . 'Cameleer.pm';
    return !index( $asking, $LIBRARY ) || !index( $asking, $LIBRARY2 );
}

# Returns a text for require, which has put the name into %INC before the text runs.
sub _load ($file) {
    if ( !$loaded{$file}++ ) {
        my $path = $LIBRARY . $file;
        do $path or die $@ || "$path: $!\n";
        delete $INC{$path};
    }
    return \"delete \$INC{'$file'}; 1";
}

1;

__END__

=head1 NAME

Cameleer::ModPerl1 - hides mod_perl 1's modules from mod_perl 2 sites

=head1 DESCRIPTION

Under mod_perl 2, C<Apache.pm>, C<Apache::Constants> and the other modules of mod_perl 1 do not
exist. C<require> of one dies with mod_perl 2's replacement, and C<%INC> does not contain it, as
under httpd, unless a folder of C<@INC> has another module of that name. L<Apache2::compat> adds the
modules that it replaces to C<%INC>.

=cut
