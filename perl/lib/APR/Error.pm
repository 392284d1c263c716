package APR::Error;

use v5.36;
use APR  ();
use Carp ();

use overload
    '""'     => \&str,
    '0+'     => \&num,
    bool     => \&num,
    '=='     => sub ( $error, $other, @ ) { _number($error) == _number($other) },
    '!='     => sub ( $error, $other, @ ) { _number($error) != _number($other) },
    cmp      => sub ( $error, $other, $swapped ) { ( "$error" cmp "$other" ) * ( $swapped ? -1 : 1 ) },
    fallback => 1;

sub new ( $class, %fields ) { return bless {%fields}, $class }

sub num ( $error, @ ) { return $error->{rc} }
sub str ( $error, @ ) { return "@{[ $error->_what ]} at $error->{file} line $error->{line}" }

# The number of a status that C code, `$!` or another error object has.
sub _number ($value) { return ref $value ? $value->num : $value // 0 }

sub _what ($error) { return "$error->{func}: ($error->{rc}) " . strerror( $error->{rc} ) }

# Joins the arguments; error objects become their text. Called as a function, as a method, and as a handler of
# __DIE__.
sub _text (@parts) { return join '', map { Scalar::Util::blessed($_) && $_->isa(__PACKAGE__) ? $_->_what : $_ } @parts }

sub confess (@parts) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::confess( _text(@parts) ) }
sub cluck   (@parts) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::cluck( _text(@parts) ) }
sub croak   (@parts) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::croak( _text(@parts) ) }
sub carp    (@parts) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::carp( _text(@parts) ) }

require Scalar::Util;

1;

__END__

=head1 NAME

APR::Error - the exceptions of APR:: methods

=head1 SYNOPSIS

    use APR::Const -compile => 'TIMEUP';

    eval { $socket->recv( my $data, 8192 ); 1 } or do {
        die $@ if !ref $@ || $@ != APR::Const::TIMEUP;
        warn "too late: $@";
    };
    print APR::Error::strerror(APR::Const::TIMEUP);
    local $SIG{__DIE__} = \&APR::Error::confess;

=head1 DESCRIPTION

As a number, an error is its status; as a text, it is the function, the status, the status' meaning,
and the place. The parts are C<< $@->{rc} >>, C<file>, C<line> and C<func>; C<num> and C<str> return
number and text. C<confess cluck croak carp> work as those of L<Carp>. See L<APR::Status> for
statuses that have several numbers.

=cut
