package Cameleer::Outside::Server;

use v5.36;

# Outside of the server there is no current request.
sub Cameleer::Outside::Apache::request { return undef }    ## no critic: a list context expects one value
sub Cameleer::Outside::Apache::seqno   { return 0 }

# The values that start-up files read before the server runs: paths, module names, the log.
sub Cameleer::Outside::Apache::server { return bless \( my $number = 0 ), 'Apache::Server' }

sub Cameleer::Outside::Apache::Server::server_root           { return undef }    ## no critic: likewise
sub Cameleer::Outside::Apache::Server::server_software       { return 'Cameleer mod_perl/1.31' }
sub Cameleer::Outside::Apache::Server::add_version_component { return }
sub Cameleer::Outside::Apache::Server::variables             { return }

# B::TerseSize calls this when it is loaded.
sub Cameleer::Outside::B::TerseSize::op_sizes { return }

sub Cameleer::Outside::Apache::Registry::mtime ($file) { return ( stat $file )[9] }

1;

__END__

=head1 NAME

Cameleer::Outside::Server - server objects outside of a server

=head1 SYNOPSIS

    use lib Apache->server_root_relative('lib');    # below the working directory, in a plain perl

=cut
