package Cameleer::ModPerl1;

use v5.36;

use Carp qw(croak);

# The modules of mod_perl 1's API. The server's own code stands on them in this generation, too, and a site's code must not find them: code
# that is written for both APIs asks `eval { require Apache::Constants }` or $INC{'Apache.pm'} which of them it has.

# What mod_perl 2 has instead.
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

# Not of the API, and of the same name for mod_perl 2.
my %IN_BOTH = map { $_ => 1 } qw(Apache::Scoreboard Apache::VMonitor Apache::Peek);

my $LIBRARY  = $INC{'Cameleer.pm'} =~ s{Cameleer\.pm\z}{}r;
my $LIBRARY2 = __FILE__ =~ s{Cameleer/ModPerl1\.pm\z}{}r;

# By file, `Apache/Log.pm`: what this process has loaded.
my %loaded;

# What is loaded by now is not seen any more, and what the server's own code loads later is not either.
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

# In @INC, before all folders.
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
    my $instead = $INSTEAD{$module} ? "use $INSTEAD{$module}" : 'mod_perl 2 has nothing like it';
    croak "Can't locate $file in \@INC: $module is of mod_perl 1's API, and this server has mod_perl 2's; $instead";
}

# What the configuration names, Cameleer.pm loads: that is the site's.
sub _is_own ($asking) {
    return 0 if $asking eq $LIBRARY . 'Cameleer.pm';
    return !index( $asking, $LIBRARY ) || !index( $asking, $LIBRARY2 );
}

# A text for require, which has put the name into %INC before the text runs.
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

Cameleer::ModPerl1 - hides mod_perl 1's modules from a site of mod_perl 2

=head1 DESCRIPTION

Under mod_perl 2 neither C<Apache.pm> nor C<Apache::Constants> nor their kin exist. C<require> of one of them dies with what mod_perl 2 has instead, and
C<%INC> does not have it, as under httpd, unless a folder of C<@INC> has a module of that name which is not the server's. L<Apache2::compat> puts those into
C<%INC> that it stands in for.

=cut
