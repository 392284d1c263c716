package Packaged::Counter;

# A session in a file of Apache::Session, locked while the request lasts; an object that lives as long.

use v5.36;
use Apache::Constants qw(OK);

package Packaged::Once {
    our @ISA = ('Apache::Singleton');
    sub _new_instance ($class) { return bless { asked => 0 }, $class }
}

sub handler ($r) {
    Packaged::Once->instance->{asked}++ for 1 .. 2;
    my %arguments = $r->args;
    my $folder    = $r->dir_config('SessionFolder');
    my %options   = ( Directory => $folder, LockDirectory => $folder, Transaction => 1 );
    tie my %session, 'Apache::Session::File', $arguments{id} || undef, \%options;
    my ( $id, $count ) = ( $session{_session_id}, ++$session{count} );
    untie %session;
    $r->send_http_header('text/plain');
    $r->print( "id=$id count=$count asked=" . Packaged::Once->instance->{asked} . "\n" );
    return OK;
}

1;
