package APR::Request::Magic;

use v5.36;

use APR::Pool ();

# The current request in the server, else that of a CGI program.
our $MODE = exists $ENV{MOD_PERL} && eval { require APR::Request::Apache2; 1 } ? 'Apache2' : 'CGI';
require APR::Request::CGI if $MODE eq 'CGI';
our @ISA = ("APR::Request::$MODE");

my $pool;

sub handle ( $class, @ ) {
    return $class->SUPER::handle( $pool //= APR::Pool->new ) if $MODE eq 'CGI';
    require Apache2::RequestUtil;
    return $class->SUPER::handle( Apache2::RequestUtil->request );
}

1;

__END__

=head1 NAME

APR::Request::Magic - the same program under mod_perl 2 and as CGI

=head1 SYNOPSIS

    my $req = APR::Request::Magic->handle;      # wants PerlOptions +GlobalRequest
    print $APR::Request::Magic::MODE;           # Apache2 or CGI

=cut
