package mod_perl;

use v5.36;

our $VERSION = '1.31';

# Old modules check for features: mod_perl::hook('Trans') is true if the phase can have handlers.
my %HOOKS = map { $_ => 1 } qw(
    PostReadRequest Init Trans HeaderParser Access Authen Authz Type Fixup Handler Log Cleanup ChildInit ChildExit Restart
    Dispatch StackedHandlers MethodHandlers TableApi LogApi ConnectionApi ServerApi
);

# use mod_perl qw(1.24 Authen): dies if this version is older, or if there is no such hook.
sub import ( $class, @wanted ) {
    for my $name (@wanted) {
        if    ( $name =~ /\A\d/ ) { $class->VERSION($name) }
        elsif ( !hook($name) )    { die "mod_perl: there is no hook \"$name\" here\n" }
    }
    return;
}

sub hook ($name) { return $HOOKS{ $name =~ s/\APerl|Handler\z//gr || 'Handler' } // 0 }

1;

__END__

=head1 NAME

mod_perl - the version of the Apache API of this process

=head1 SYNOPSIS

    use mod_perl 1.21;
    use mod_perl qw(1.24 StackedHandlers TableApi);
    print "mod_perl $mod_perl::VERSION\n";

=head1 DESCRIPTION

Modules that support several versions of mod_perl check C<$mod_perl::VERSION> and C<$ENV{MOD_PERL}>.
Here both are 1.31: L<Apache> is the API of mod_perl 1.x.

=cut
