# A start-up file as in the tuning guides: code and data that all workers share are loaded before the fork.
use v5.36;

use CGI ();
CGI->compile(':all');

use Apache::Session::File ();
use Apache::Singleton     ();
use CGI::Application      ();
use Storable              ();
use Template              ();

use Packaged::Calculator ();
use Packaged::Counter    ();
use Packaged::Page       ();

our $table = Storable::dclone( { map { $_ => $_**2 } 1 .. 1000 } );

1;
