package Shop::Dispatch;

use v5.36;
use parent 'CGI::Application::Dispatch';

sub dispatch_args ( $class, $args ) {
    my @table = ( '' => { app => 'Shop', rm => 'list' }, 'item/:id' => { app => 'Shop', rm => 'item' }, ':app/:rm' => {} );
    return { prefix => '', table => \@table };
}

1;
