package Cameleer::Element;

use v5.36;

use Apache ();

# Calls the sub of an element `perl` of server-side includes: its name and arguments, separated by zero bytes. The name
# is that of a sub, of a package with a sub `handler`, or Class->method.
sub execute ($element) {
    my ( $name, @arguments ) = split /\0/, $element, -1;
    my ( $class, $method ) = $name =~ /\A([\w:]+)->(\w+)\z/;
    my $r = Apache->request;
    if ($class) {
        _need($class) unless $class->can($method);
        $class->$method( $r, @arguments );
        return;
    }
    my $sub = _sub_of($name) // die "includes: there is no sub $name\n";
    $sub->( $r, @arguments );
    return;
}

# The sub, after loading the module that may have it.
sub _sub_of ($name) {
    no strict 'refs';
    my ($package) = $name =~ /\A([\w:]+)::\w+\z/;
    my $find = sub { defined &$name ? \&$name : $name->can('handler') };
    my $sub = $find->();
    for my $module ( $sub ? () : ( $name, grep { defined } $package ) ) {
        last if eval { _need($module) } and $sub = $find->();
    }
    return $sub;
}

sub _need ($module) { return require( $module =~ s{::}{/}gr . '.pm' ) }

1;

__END__

=head1 NAME

Cameleer::Element - calls the sub of an element C<perl> of server-side includes

=head1 SYNOPSIS

    <!--#perl sub="My::sub" arg="a" arg="b" -->

=head1 DESCRIPTION

C<execute($element)> is called by the server with the name of the sub and its arguments, separated by zero bytes. It dies
if there is no such sub.

=cut
