package Apache::SSLLookup;

use v5.36;

die "Apache::SSLLookup is a module in C linked against httpd, which cannot be loaded here. "
    . "Ask \$r->subprocess_env for HTTPS and, with SSLOptions +StdEnvVars, SSL_PROTOCOL and the like.\n";

__END__

=head1 NAME

Apache::SSLLookup - not available: it needs httpd

=head1 DESCRIPTION

Loading this module dies with a message about alternatives: it needs functions that only httpd has.
C<< $r->subprocess_env('HTTPS') >> is C<on> for a request over TLS; C<SSLOptions +StdEnvVars> adds
C<SSL_PROTOCOL>, C<SSL_CIPHER>, C<SSL_CLIENT_S_DN> and others.

=cut
