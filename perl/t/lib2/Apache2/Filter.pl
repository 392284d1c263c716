# Apache2::Filter: output filters change the body; run by packages.t

use v5.36;

return {
    output => [ sub ($r) {
        $r->add_output_filter( sub ( $f, @ ) { while ( $f->read( my $text, 1024 ) ) { $f->print( uc $text ) } 0 } );
        'made large';
    }, 'MADE LARGE' ],
    twice  => [ sub ($r) {
        for my $mark (qw(a b)) {
            $r->add_output_filter( sub ( $f, @ ) { $f->read( my $text, 1024 ); $f->print("$mark$text") if length $text; 0 } );
        }
        'x';
    }, 'bax' ],
    record => [ sub ($r) { my $name; $r->add_output_filter( sub ( $f, @ ) { $name //= $f->frec->name; $f->read( my $text, 1024 ); $f->print($name) if length $text; 0 } ); 'x' },
        qr/\Amodperl_request_output\z/i ],
};
