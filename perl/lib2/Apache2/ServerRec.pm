package Apache2::ServerRec;

use v5.36;

use Apache::Server     ();
use Cameleer::ModPerl2 ();
use Exporter 'import';

# Programs import this instead of perl's own warn; Apache2::Log defines it.
our @EXPORT_OK = ('warn');

Cameleer::ModPerl2::lend( 'Apache::Server', __PACKAGE__, qw(server_hostname server_admin port is_virtual next loglevel error_fname) );

sub timeout ( $s, @new ) { return Apache::Server::timeout( $s, @new ) * 1_000_000 if !@new; return Apache::Server::timeout( $s, $new[0] / 1_000_000 ) * 1_000_000 }

# The front, not a worker, has these settings, so httpd's defaults are returned.
my %DEFAULTS = ( keep_alive => 1, keep_alive_max => 100, keep_alive_timeout => 5_000_000, limit_req_line => 8190, limit_req_fields => 100,
    limit_req_fieldsize => 8190, server_scheme => undef, path => undef, wild_names => undef, defn_name => undef, defn_line_number => 0 );
my %fields;
for my $name ( keys %DEFAULTS ) {
    no strict 'refs';
    *$name = sub ( $s, @new ) {
        my $of     = $fields{$$s} //= {};
        my $before = $of->{$name} // $DEFAULTS{$name};
        $of->{$name} = $new[0] if @new;
        return $before;
    };
}

sub names ($s) { my @names = Apache::Server::aliases($s); return @names ? \@names : undef }

# The front has the addresses, so this only shows that there are some.
sub addrs ($s) { return 1 }

sub process ($s) {
    require Apache2::Process;
    return Apache2::Process->current;
}

sub module_config  ($s) { return bless \( my $number = $$s ), 'Apache2::ConfVector' }
sub lookup_defaults ($s) { return bless \( my $number = $$s ), 'Apache2::ConfVector' }

1;

__END__

=head1 NAME

Apache2::ServerRec - a server: the main one or a virtual host

=head1 SYNOPSIS

    use Apache2::ServerRec ();

    my $s = $r->server;
    for ( my $each = Apache2::ServerUtil->server; $each; $each = $each->next ) {
        print $each->server_hostname, ':', $each->port, "\n";
    }

=head1 DESCRIPTION

C<defn_line_number defn_name error_fname is_virtual keep_alive keep_alive_max keep_alive_timeout
limit_req_fields limit_req_fieldsize limit_req_line lookup_defaults loglevel module_config names
next path port process server_admin server_hostname server_scheme timeout wild_names>. Times are
microseconds, as in mod_perl 2. Setters affect this process only.

=cut
