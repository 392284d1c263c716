package Apache::Server;

use v5.36;
use Cwd      ();
use XSLoader ();

use Apache::Server::Variables ();

XSLoader::load(__PACKAGE__);

# Where relative names begin; scripts run elsewhere and are followed by a return to here.
our $CWD = Cwd::getcwd();

our $Starting   = 0;
our $ReStarting = 0;

sub log_error { return Apache::Log::_say( 3, @_ ) }
sub warn      { return Apache::Log::_say( 4, @_ ) }    ## no critic: the name is the API's
sub log       { return Apache::Log->new }

sub dir_config {
    my ( $s, $name ) = @_;
    my $variables = Apache::Server::Variables->new( $s->variables );
    return defined $name ? $variables->get($name) : $variables;
}

sub names { return [] }
sub next  { return undef }                                   ## no critic
sub uid   { return $< }
sub gid   { return 0 + $( }

1;

__END__

=head1 NAME

Apache::Server - the server, or the virtual host that the request came to

=head1 SYNOPSIS

    my $s = $r->server;      # or Apache->server, also in start-up files
    $s->server_hostname;  $s->port;  $s->server_admin;  $s->is_virtual;
    $s->dir_config('Name');
    $s->log_error('text');  $s->warn('text');  $s->log->info('text');

=cut
