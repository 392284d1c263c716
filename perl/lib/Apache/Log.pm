package Apache::Log;

use v5.36;
use XSLoader ();

XSLoader::load(__PACKAGE__);

my @LEVELS = qw(emerg alert crit error warn notice info debug);

sub new ($class) { return bless {}, $class }

# $log->debug(sub { costly() }) runs the code only when the level is shown.
for my $number ( 0 .. $#LEVELS ) {
    no strict 'refs';
    *{ $LEVELS[$number] } = sub {
        my ( undef, @text ) = @_;
        return if $number > Apache->server->loglevel;
        Apache::Log::write( $number, join '', map { ref $_ eq 'CODE' ? $_->() : $_ } @text );
        return;
    };
}

# log_error and its kin are called as methods of several classes, or as functions.
sub _say ( $number, @text ) {
    shift @text if @text && ( ref $text[0] || @text > 1 && $text[0] =~ /\AApache(?:::\w+)*\z/ );
    Apache::Log::write( $number, join '', map { $_ // '' } @text );
    return;
}

1;

__END__

=head1 NAME

Apache::Log - messages to the error log, by severity

=head1 SYNOPSIS

    $r->log->error("cannot read $file: $!");
    $r->server->log->debug( sub { Dumper($state) } );

=head1 DESCRIPTION

C<emerg alert crit error warn notice info debug>. What is less urgent than C<LogLevel> is not written.

=cut
