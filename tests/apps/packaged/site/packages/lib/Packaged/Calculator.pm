package Packaged::Calculator;

# Methods that Apache::SOAP offers to clients.

use v5.36;

sub add ( $class, @numbers ) {
    my $sum = 0;
    $sum += $_ for @numbers;
    return $sum;
}

sub divide ( $class, $number, $by ) {
    die SOAP::Fault->faultcode('Client.Zero')->faultstring('nothing is divided by zero') if $by == 0;
    return $number / $by;
}

1;
