package Apache2::Module;

use v5.36;

use Apache2::CmdParms    ();
use Apache2::Command     ();
use Cameleer::Directives ();

# httpd's modules that are built into the server, by the names of their source files.
our @NAMES = qw(core.c mod_so.c http_core.c prefork.c mod_access_compat.c mod_actions.c mod_alias.c mod_auth_basic.c mod_authn_core.c
    mod_authn_file.c mod_authz_core.c mod_authz_groupfile.c mod_authz_host.c mod_authz_user.c mod_autoindex.c mod_cgi.c mod_deflate.c mod_dir.c
    mod_env.c mod_expires.c mod_filter.c mod_headers.c mod_log_config.c mod_mime.c mod_perl.c mod_setenvif.c mod_ssl.c mod_status.c);

my @modules = map { bless { name => $NAMES[$_], index => $_ }, __PACKAGE__ } 0 .. $#NAMES;

sub top_module { return $modules[0] }

sub find_linked_module ($name) {
    my ($found) = grep { $_->{name} eq $name } @modules;
    return $found;
}

sub name         ($self) { return $self->{name} }
sub module_index ($self) { return $self->{index} }
sub next         ($self) { return $modules[ $self->{index} + 1 ] }    ## no critic: the name is the API's

# The version of httpd 2.4's module API.
sub ap_api_major_version ($self) { return 20120211 }
sub ap_api_minor_version ($self) { return 0 }

# The first directive; only mod_perl's directives are listed.
sub cmds ($self) { return $self->{name} eq 'mod_perl.c' ? Apache2::Command->first : undef }

# 'mod_alias.c', 'mod_alias.so' (built-in modules are not loaded as .so), or the name of a Perl module.
sub loaded ($name) {
    return find_linked_module($name) ? 1 : 0                  if $name =~ /\.c\z/;
    return find_linked_module( $1 . '.c' ) ? 1 : 0            if $name =~ /\A(mod_perl)\.so\z/;
    return 0                                                  if $name !~ /\A\w+(?:::\w+)*\z/;
    return exists $INC{ $name =~ s{::}{/}gr . '.pm' } ? 1 : 0;
}

# Defines directives for the following lines: { name => ..., func => ..., args_how => ..., req_override => ...,
# errmsg => ..., cmd_data => ... }.
sub add ( $class, $rows ) {
    return Cameleer::Directives::register( $class, map { { args_how => 'TAKE1', %$_ } } @$rows );
}

# The module's merged object for the server, or for the request's location.
sub get_config ( $class, $server, @place ) {
    return Cameleer::Directives::value( ref $class || $class, 'place' ) if @place;
    return Cameleer::Directives::of_server( ref $class || $class, $$server );
}

1;

__END__

=head1 NAME

Apache2::Module - directives of Perl modules, and the list of httpd's modules

=head1 SYNOPSIS

    package My::Parameters;
    use Apache2::Module ();
    use Apache2::Const -compile => qw(OR_ALL TAKE1);

    Apache2::Module::add( __PACKAGE__, [ { name => 'MyColor', req_override => Apache2::Const::OR_ALL, args_how => Apache2::Const::TAKE1 } ] );

    sub MyColor { my ( $self, $parms, $color ) = @_; $self->{color} = $color }

    # in a handler
    my $config = Apache2::Module::get_config( __PACKAGE__, $r->server, $r->per_dir_config );

=head1 DESCRIPTION

Put C<PerlLoadModule My::Parameters> above the first C<MyColor>. C<DIR_CREATE>, C<DIR_MERGE>,
C<SERVER_CREATE> and C<SERVER_MERGE> work as in mod_perl 2. C<loaded>, C<top_module>,
C<find_linked_module>, C<next>, C<name>, C<cmds> and C<module_index> describe httpd's modules that
are built in.

=cut
