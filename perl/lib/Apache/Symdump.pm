package Apache::Symdump;

use v5.36;

use Apache            ();
use Apache::Constants qw(DECLINED);
use Devel::Symdump    ();

our $VERSION = '1.00';

my %known;
my $number = 0;

# PerlLogHandler: writes the symbols that each request added to files logs/symdump.PID.N below ServerRoot.
sub handler {
    my $r   = $_[-1];
    my %now = map { $_ => 1 } symbols();
    write_new( $r, [ grep { !$known{$_} } sort keys %now ] );
    %known = %now;
    return DECLINED;
}

sub symbols {
    my $dump = Devel::Symdump->rnew('main');
    return map { my $kind = $_; map { "$kind $_" } $dump->$kind } qw(functions scalars arrays hashes packages);
}

sub write_new ( $r, $symbols ) {
    my $file = $r->server_root_relative( "logs/symdump.$$." . $number++ );
    open my $handle, '>', $file or return $r->log_error("Apache::Symdump: cannot write $file: $!");
    print {$handle} map { "$_\n" } @$symbols;
    close $handle or $r->log_error("Apache::Symdump: cannot write $file: $!");
    return;
}

1;

__END__

=head1 NAME

Apache::Symdump - records the symbols that each request added

=head1 SYNOPSIS

    PerlLogHandler Apache::Symdump

=head1 DESCRIPTION

The first request of a worker writes all symbols into F<logs/symdump.PID.0>, the next ones new
symbols into F<symdump.PID.1> and so on: lines of kind and name. If the files of a worker do not
become empty, its code keeps creating symbols, and the worker grows. The folder must exist, and the
workers' user must be able to write to it. Needs L<Devel::Symdump>.

=cut
