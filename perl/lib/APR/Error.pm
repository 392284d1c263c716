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

# Numbers that come from C, from `$!` or from another error.
sub _number ($value) { return ref $value ? $value->num : $value // 0 }

sub _what ($error) { return "$error->{func}: ($error->{rc}) " . strerror( $error->{rc} ) }

# As a function, a method or a handler of __DIE__: of errors and texts alike.
sub _text (@said) { return join '', map { Scalar::Util::blessed($_) && $_->isa(__PACKAGE__) ? $_->_what : $_ } @said }

sub confess (@said) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::confess( _text(@said) ) }
sub cluck   (@said) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::cluck( _text(@said) ) }
sub croak   (@said) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::croak( _text(@said) ) }
sub carp    (@said) { local $Carp::CarpLevel = $Carp::CarpLevel + 1; Carp::carp( _text(@said) ) }

require Scalar::Util;

1;

__END__

=head1 NAME

APR::Error - what methods of APR:: throw: a number and a text

=head1 SYNOPSIS

    use APR::Const -compile => 'TIMEUP';

    eval { $socket->recv( my $data, 8192 ); 1 } or do {
        die $@ if !ref $@ || $@ != APR::Const::TIMEUP;
        warn "too late: $@";
    };
    print APR::Error::strerror(APR::Const::TIMEUP);
    local $SIG{__DIE__} = \&APR::Error::confess;

=head1 DESCRIPTION

As a number an error is its status, as a text it says the function, the status, what that means, and where. The parts are
C<< $@->{rc} >>, C<file>, C<line> and C<func>. C<str> and C<num> are both by name; C<confess cluck croak carp> do what those of
L<Carp> do. See L<APR::Status> for statuses that are the same in several forms.

=cut
