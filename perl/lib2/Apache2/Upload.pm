package Apache2::Upload;

use v5.36;

use Apache2::Request ();

our @ISA     = ('APR::Request::Param');
our $VERSION = '2.17';

for my $name (qw(slurp type size link tempname fh io filename)) {
    no strict 'refs';
    *$name = \&{"APR::Request::Param::upload_$name"};
}

{
    no warnings 'once';
    *bb = \&APR::Request::Param::upload;
}

# upload(NAME) returns the first upload of a field, in list context all uploads of the field. upload() returns a table
# of all uploads, in list context the names of their fields.
sub Apache2::Request::upload ( $self, @name ) {
    my $body = $self->body or return;
    $body->param_class(__PACKAGE__);
    return $body->_uploads_of( $name[0] ) if @name;
    my $uploads = $body->uploads;
    return wantarray ? keys %$uploads : $uploads;
}

1;

__END__

=head1 NAME

Apache2::Upload - an uploaded file of a form

=head1 SYNOPSIS

    use Apache2::Upload ();

    my $upload = $req->upload('picture');
    print $upload->filename, ' ', $upload->size, ' ', $upload->type;
    $upload->slurp( my $content );
    while ( readline $upload->fh ) { ... }
    $upload->link('/srv/pictures/new.png') or die $!;

=head1 DESCRIPTION

Defines C<upload> of L<Apache2::Request>, and short names for methods of L<APR::Request::Param>:
C<slurp type size link tempname fh io filename>, and C<bb> for C<upload>.

=cut
