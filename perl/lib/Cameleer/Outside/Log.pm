package Cameleer::Outside::Log;

use v5.36;

my @NAMES = qw(emerg alert crit error warn notice info debug);
my $LEVEL = 4;

# Writes to STDERR in place of the error log.
sub Cameleer::Outside::Apache::Log::write ( $number, $text, $context = 0 ) {
    print STDERR $context == 3 ? '' : '[' . ( $NAMES[$number] // 'error' ) . '] ', $text =~ s/\n?\z/\n/r;
    return;
}

sub Cameleer::Outside::Apache::Server::loglevel ( $s, @new ) {
    my $before = $LEVEL;
    $LEVEL = $new[0] if @new;
    return $before;
}

1;

__END__

=head1 NAME

Cameleer::Outside::Log - the error log of a plain perl

=head1 SYNOPSIS

    Apache->server->log->error('to STDERR');

=cut
