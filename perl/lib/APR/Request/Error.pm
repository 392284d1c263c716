package APR::Request::Error;

use v5.36;

use APR::Error           ();
use APR::Request         ();
use APR::Request::Decode ();

our @ISA     = qw(APR::Error APR::Request);
our $VERSION = '2.17';

use overload '""' => sub { $_[0]->as_string }, fallback => 1;

for my $name ( keys %APR::Request::Decode::NUMBERS ) {
    my $value = APR::Request::Decode::status_value( $APR::Request::Decode::NUMBERS{$name} );
    no strict 'refs';
    *$name = sub () { $value };
}

sub strerror ($status) { return APR::Request::Decode::status_value( 0 + $status ) }

# Makes an error with the place of the API's caller. The error also acts as the request: its methods return the
# parsed part, without an exception.
sub of ( $class, $status, $function, $request ) {
    my $depth = 1;
    $depth++ while ( caller $depth )[0] =~ /\AAPR::Request(?:::|\z)/;
    my ( undef, $file, $line ) = caller $depth;
    return bless { rc => 0 + $status, file => $file, line => $line, func => $function, _r => $request }, $class;
}

# The result is also a number.
sub as_string ( $self, @ ) { return APR::Request::Decode::status_value( $self->{rc} ) }

sub _what ($self) { return "$self->{func}: ($self->{rc}) " . APR::Request::Decode::status_text( $self->{rc} ) }

1;

__END__

=head1 NAME

APR::Request::Error - the exceptions of APR::Request methods

=head1 SYNOPSIS

    use APR::Request::Error qw(OVERLIMIT);

    my $body = eval { $req->body } // do {
        die $@ if !ref $@ || $@ != OVERLIMIT;
        return Apache2::Const::HTTP_REQUEST_ENTITY_TOO_LARGE;
    };
    my $seen = $@->body('name');        # the parsed part; does not throw

=head1 DESCRIPTION

An L<APR::Error> whose text is only the meaning of its status. C<< $@->{_r} >> is the object whose
method failed. The statuses: C<GENERAL> (uploads are disabled, a hook died, an invalid multipart
body), C<TAINTED>, C<INTERRUPT>, C<BADDATA>, C<BADCHAR>, C<BADSEQ> (C<%zz>), C<BADATTR>,
C<BADHEADER>, C<BADUTF8>, C<NODATA>, C<NOTOKEN>, C<NOATTR>, C<NOHEADER>, C<NOPARSER>, C<MISMATCH>,
C<OVERLIMIT> (longer than the limit), C<UNDERLIMIT>, C<NOTEMPTY>. C<strerror> gives the text of a
number.

=cut
