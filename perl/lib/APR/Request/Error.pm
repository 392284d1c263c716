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

# Of the line that called the API. It answers for the request as well: what could be parsed, without an exception.
sub of ( $class, $status, $function, $request ) {
    my $depth = 1;
    $depth++ while ( caller $depth )[0] =~ /\AAPR::Request(?:::|\z)/;
    my ( undef, $file, $line ) = caller $depth;
    return bless { rc => 0 + $status, file => $file, line => $line, func => $function, _r => $request }, $class;
}

# A number as well.
sub as_string ( $self, @ ) { return APR::Request::Decode::status_value( $self->{rc} ) }

sub _what ($self) { return "$self->{func}: ($self->{rc}) " . APR::Request::Decode::status_text( $self->{rc} ) }

1;

__END__

=head1 NAME

APR::Request::Error - what methods of APR::Request throw

=head1 SYNOPSIS

    use APR::Request::Error qw(OVERLIMIT);

    my $body = eval { $req->body } // do {
        die $@ if !ref $@ || $@ != OVERLIMIT;
        return Apache2::Const::HTTP_REQUEST_ENTITY_TOO_LARGE;
    };
    my $seen = $@->body('name');        # what could be parsed: no exception from here

=head1 DESCRIPTION

An L<APR::Error>, as a text only what is wrong. C<< $@->{_r} >> is the object that was asked. The numbers: C<GENERAL> (an upload that is disabled, a
hook that died, a multipart body that is none), C<TAINTED>, C<INTERRUPT>, C<BADDATA>, C<BADCHAR>, C<BADSEQ> (C<%zz>), C<BADATTR>, C<BADHEADER>,
C<BADUTF8>, C<NODATA>, C<NOTOKEN>, C<NOATTR>, C<NOHEADER>, C<NOPARSER>, C<MISMATCH>, C<OVERLIMIT> (longer than the limit), C<UNDERLIMIT>,
C<NOTEMPTY>. C<strerror> gives the text of a number.

=cut
