package Apache::RedirectLogFix;

use v5.36;

use Apache::Constants qw(DECLINED REDIRECT);

# PerlLogHandler: a request that sent its client elsewhere is logged as such.
sub handler {
    my $r = $_[-1]->last;
    $r->status(REDIRECT) if $r->status == 200 && defined $r->header_out('Location');
    return DECLINED;
}

1;

__END__

=head1 NAME

Apache::RedirectLogFix - the status that other log handlers see of a redirect

=head1 SYNOPSIS

    PerlLogHandler Apache::RedirectLogFix

=head1 DESCRIPTION

A script that set C<Location> and no status was answered with 302: log handlers that follow read that from C<<
$r->status >>. The access log has the status that the client got, with or without this.

=cut
