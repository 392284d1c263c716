package APR::Status;

use v5.36;
use APR ();

1;

__END__

=head1 NAME

APR::Status - tests for statuses that have several numbers

=head1 SYNOPSIS

    eval { $socket->recv( my $data, 8192 ); 1 } or APR::Status::is_EAGAIN($@) or die $@;

=head1 DESCRIPTION

C<is_EACCES is_EAGAIN is_ENOENT is_EOF is_ECONNABORTED is_ECONNRESET is_TIMEUP> take a number or an L<APR::Error>.

=cut
