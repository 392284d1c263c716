package APR::URI;

use v5.36;
use APR ();

sub CLONE_SKIP { return 1 }

1;

__END__

=head1 NAME

APR::URI - the parts of a URI

=head1 SYNOPSIS

    use APR::Const -compile => 'URI_UNP_REVEALPASSWORD';

    my $uri = APR::URI->parse( $pool, 'http://user:secret@example.org:8000/path?query#part' );
    print $uri->hostname, $uri->port, $uri->path;
    $uri->query(undef);
    print $uri->unparse;                                         # without the password
    print $uri->unparse(APR::Const::URI_UNP_REVEALPASSWORD);
    print APR::URI::port_of_scheme('https');

=head1 DESCRIPTION

C<scheme user password hostname port path query fragment hostinfo> get a part, or set it and return
its old value; undef means that the part is missing. C<hostinfo> is the parsed one, unaffected by
setters. C<rpath> is the path without the C<path_info> at its end. An invalid URI has the parts that
could be parsed.

=cut
