package Apache2::Reload;

use v5.36;

use Apache2::Const -compile => qw(OK);
use Apache2::Log            ();
use Apache2::RequestUtil    ();
use Time::HiRes             ();

our $VERSION = '0.13';

# By name in %INC: the file's modification time at the last check.
my %mtime;
my $loaded = Time::HiRes::time();

# Modules that contain `use Apache2::Reload`.
my %registered;

sub import ( $class, @names ) {
    $class->register_module($_) for @names ? @names : scalar caller;
    return;
}

sub register_module ( $class, $package, $file = undef ) {
    my $name = $package =~ s{::}{/}gr . '.pm';
    $registered{$name} = 1;
    $INC{$name} //= $file if defined $file;
    return;
}

sub unregister_module ( $class, $package ) {
    delete $registered{ $package =~ s{::}{/}gr . '.pm' };
    return;
}

# PerlInitHandler or PerlPreConnectionHandler: reloads changed modules.
sub handler {
    my $r = $_[-1];
    my %options = map { $_ => scalar $r->dir_config("Reload$_") } qw(All Modules Directories ByModuleName Debug ConstantRedefineWarnings);
    touched( $r->dir_config('ReloadTouchFile') ) or return Apache2::Const::OK;
    for my $name ( grep { has_changed( $INC{$_} ) } wanted(%options) ) {
        reload( $name, is_on( $options{Debug} ) );
    }
    return Apache2::Const::OK;
}

sub is_on ( $options, $default = 'Off' ) { return ( $options // $default ) !~ /\A(?:off|no|0)?\z/i }

# The modules to check: all, unless ReloadAll is Off; then registered and named ones. ReloadDirectories limits both.
sub wanted (%options) {
    my @folders  = split ' ', $options{Directories} // '';
    my @patterns = map { quotemeta($_) =~ s/\\\*/.*/gr =~ s{\\:\\:}{/}gr } split ' ', $options{Modules} // '';
    my @names    = grep { defined $INC{$_} && !ref $INC{$_} } keys %INC;
    @names = grep { my $name = $_; $registered{$name} || grep { $name =~ /\A$_\.pm\z/ } @patterns } @names if !is_on( $options{All}, 'On' );
    @names = grep { my $file = $INC{$_}; grep { index( $file, s{/*\z}{/}r ) == 0 } @folders } @names       if @folders;
    return sort @names;
}

# With ReloadTouchFile, no module is checked until this file has changed.
sub touched ($file) {
    return 1 if !defined $file;
    my $now = ( Time::HiRes::stat($file) )[9] // return 0;
    my $before = $mtime{"touch $file"} // $loaded;
    $mtime{"touch $file"} = $now;
    return $now > $before;
}

# A file that was not checked yet is compared with the time when this module was loaded.
sub has_changed ($file) {
    my $now    = ( Time::HiRes::stat($file) )[9] // return;
    my $before = $mtime{$file} // $loaded;
    $mtime{$file} = $now;
    return $now > $before;
}

# If the new code does not compile, the old code is retained.
sub reload ( $name, $is_told ) {
    my $file = delete $INC{$name};
    local $^W = 0;
    no warnings 'redefine';
    if ( eval { require $name } ) {
        Apache2::ServerRec::warn("Apache2::Reload: process $$ loaded $name again") if $is_told;
        return;
    }
    Apache2::ServerRec::warn("Apache2::Reload: cannot reload $name, the loaded version stays: $@");
    delete $INC{$name};    # perl left a read-only mark there
    $INC{$name} = $file;
    return;
}

1;

__END__

=head1 NAME

Apache2::Reload - reloads changed modules

=head1 SYNOPSIS

    PerlModule Apache2::Reload
    PerlInitHandler Apache2::Reload
    PerlSetVar ReloadAll Off
    PerlSetVar ReloadModules "My::* Other::Module"
    PerlSetVar ReloadDirectories "/srv/site/lib"
    PerlSetVar ReloadTouchFile /srv/site/touch
    PerlSetVar ReloadDebug On

=head1 DESCRIPTION

With C<ReloadAll Off>, only modules that contain C<use Apache2::Reload>, or that C<ReloadModules>
names, are checked. Use it for development only: each worker loads changed modules itself, so they
are no longer shared. A reload of the server loads all code again.

=cut
