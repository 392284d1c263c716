package SOAP::Transport::HTTP2;

# OCS Inventory loads the server of SOAP::Lite under the name of an older distribution; SOAP::Lite's own server supports
# mod_perl 2.

use v5.36;

use SOAP::Transport::HTTP ();

package SOAP::Transport::HTTP2::Apache {
    our @ISA = ('SOAP::Transport::HTTP::Apache');
}

1;
