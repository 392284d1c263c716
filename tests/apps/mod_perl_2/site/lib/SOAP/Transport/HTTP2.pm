package SOAP::Transport::HTTP2;

# OCS Inventory asks for the server of SOAP::Lite under the name that it had in a distribution of its own; SOAP::Lite's knows mod_perl 2 by now.

use v5.36;

use SOAP::Transport::HTTP ();

package SOAP::Transport::HTTP2::Apache {
    our @ISA = ('SOAP::Transport::HTTP::Apache');
}

1;
