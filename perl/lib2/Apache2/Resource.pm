package Apache2::Resource;

use v5.36;

use Apache2::ServerUtil ();
use Apache::Resource    ();
use mod_perl2           ();

our $VERSION = '1.72';
our $Debug;

sub handler {
    local $Apache::Resource::Debug = $Debug;
    return Apache::Resource::handler();
}

*set_limit     = \&Apache::Resource::set_limit;
*status_rlimit = \&Apache::Resource::status_rlimit;

# Pushes the limits onto the phase that limits this process.
Apache2::ServerUtil->server->push_handlers( PerlChildInitHandler => \&handler ) if $ENV{PERL_RLIMIT_DEFAULTS};

Apache2::Status->menu_item( rlimit => 'Resource Limits', \&status_rlimit ) if $INC{'Apache2/Status.pm'};

1;

__END__

=head1 NAME

Apache2::Resource - resource limits of worker processes

=head1 SYNOPSIS

    PerlModule Apache2::Resource
    PerlSetEnv PERL_RLIMIT_DATA 256:512
    PerlSetEnv PERL_RLIMIT_CPU 120
    PerlChildInitHandler Apache2::Resource

=head1 DESCRIPTION

The same as L<Apache::Resource>: needs L<BSD::Resource>.

=cut
