package Apache::Log;

use v5.36;
use Cameleer::XS ();

Cameleer::XS::load(__PACKAGE__);

@Apache::Log::Request::ISA = @Apache::Log::Server::ISA = (__PACKAGE__);

use constant { EMERG => 0, ALERT => 1, CRIT => 2, ERR => 3, WARNING => 4, NOTICE => 5, INFO => 6, DEBUG => 7 };

my @LEVELS = qw(emerg alert crit error warn notice info debug);

sub new ( $class, $of ) {
    my ( $server, $kind ) = $of->isa('Apache::Server') ? ( $of, 'Server' ) : ( $of->server, 'Request' );
    return bless { server => $server }, "${class}::$kind";
}

# $log->debug(sub { costly() }) runs the code only when the level is logged.
for my $number ( 0 .. $#LEVELS ) {
    no strict 'refs';
    *{ $LEVELS[$number] } = sub {
        my ( $self, @text ) = @_;
        return if $number > $self->{server}->loglevel;
        Apache::Log::write( $number, join '', map { ref $_ eq 'CODE' ? $_->() : $_ // '' } @text );
        return;
    };
}
*emergency = \&emerg;
*critical  = \&crit;

# log_error and similar functions are called as methods of several classes, or as functions.
sub _write ( $number, @text ) {
    shift @text if @text && ( ref $text[0] || @text > 1 && $text[0] =~ /\AApache(?:::\w+)*\z/ );
    Apache::Log::write( $number, join '', map { $_ // '' } @text );
    return;
}

1;

__END__

=head1 NAME

Apache::Log - the error log, with levels

=head1 SYNOPSIS

    my $log = $r->log;            # or $s->log
    $log->error("no such user: $name");
    $log->debug( sub { 'state: ' . Dumper($state) } );

=head1 DESCRIPTION

C<emerg alert crit error warn notice info debug>, also C<emergency> and C<critical>. A message given
as code costs nothing when C<LogLevel> suppresses it. Arguments are joined. C<Apache::Log::DEBUG>
and the other constants are the levels' numbers.

=cut
