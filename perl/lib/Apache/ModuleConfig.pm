package Apache::ModuleConfig;

use v5.36;
use DynaLoader ();

use Cameleer::Directives ();

our $VERSION = '1.31';

sub get ( $, $about, $class = scalar caller ) {
    return Cameleer::Directives::config_of( $about, ref $class || $class );
}

sub has_srv_config { return 1 }

# In mod_perl 1 a module with compiled directives calls bootstrap; in Cameleer such modules have no compiled half.
my $bootstrap = \&DynaLoader::bootstrap;

sub without_object ($class) {
    my $path = $class =~ s{::}{/}gr;
    my $name = $class =~ s/.*:://r;
    return !grep { !ref && -f "$_/auto/$path/$name.so" } @INC;
}

{
    no warnings 'redefine';
    *DynaLoader::bootstrap = sub {
        my $class = $_[0];
        return 1 if without_object($class) && Cameleer::Directives::register_module($class);
        goto &$bootstrap;
    };
}

1;

__END__

=head1 NAME

Apache::ModuleConfig - values of directives that Perl modules define

=head1 SYNOPSIS

    package My::Directives;
    use Apache::ModuleConfig ();
    use DynaLoader ();
    our @ISA = 'DynaLoader';
    __PACKAGE__->bootstrap if $ENV{MOD_PERL};

    sub Color ($$$) { my ( $config, $parms, $color ) = @_; $config->{color} = $color }

    sub handler {
        my $r      = shift;
        my $config = Apache::ModuleConfig->get($r);    # or ($r, 'My::Directives'), ($r->server)
        ...
    }

=head1 DESCRIPTION

In mod_perl 1 the table of a module's directives was compiled. Here C<bootstrap> of a module without
a compiled half reads the table from F<My/Directives.directives> beside F<My/Directives.pm>: a Perl
file whose value is Makefile.PL's argument to C<command_table>. Without such a file every sub is a
directive whose name begins with a capital and whose prototype begins with C<$$>. A module may also
call L<Apache::ExtUtils>' C<command_table> itself. Load modules above the first use of their
directives.

C<< get($r) >> returns the object of the request's sections, merged by C<DIR_MERGE> (without it the
innermost wins); C<< get($server) >> returns that of C<SERVER_CREATE> and C<SERVER_MERGE>.
C<DIR_CREATE> makes the objects; by default they are empty hashes. The result is undef when no
directive of the class is set there.

A F<.htaccess> file may contain the directives where C<AllowOverride> has one of the classes in the
module's C<req_override>, and C<PerlHtaccess> is not C<Off>. On a mod_perl 1 server, the server's
own files must also contain a directive of a module, or C<< <Perl> >>: only then does the server ask
Perl for directives.

=cut
