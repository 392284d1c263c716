package Shop;

# A CGI::Application for CGI::Application::Dispatch.

use v5.36;
use parent 'CGI::Application';

sub setup ($self) {
    $self->start_mode('list');
    $self->run_modes( [qw(list item away)] );
    return;
}

sub list ($self) {
    my $query = $self->query;
    return 'Goods for ' . $query->escapeHTML( scalar $query->param('name') // 'nobody' );
}

sub item ($self) { return 'item ' . $self->param('id') }

sub away ($self) {
    $self->header_type('redirect');
    $self->header_props( -url => 'http://localhost/elsewhere' );
    return;
}

1;
