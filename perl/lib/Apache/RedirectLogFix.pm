package Apache::RedirectLogFix;

use v5.36;

use Apache::Constants qw(DECLINED REDIRECT);

# PerlLogHandler: sets the status of a request that redirected its client.
sub handler {
    my $r = $_[-1]->last;
    $r->status(REDIRECT) if $r->status == 200 && defined $r->header_out('Location');
    return DECLINED;
}

1;

__END__

=head1 NAME

Apache::RedirectLogFix - sets the status of redirects for other log handlers

=head1 SYNOPSIS

    PerlLogHandler Apache::RedirectLogFix

=head1 DESCRIPTION

A script that sets C<Location> and no status gets status 302: after this handler, other log handlers
read that from C<< $r->status >>. The access log always has the status that the client got.

=cut
