# Apache2::MPM: the processing model that programs see; run by packages.t

use v5.36;

return {
    show     => [ sub ($r) { Apache2::MPM->show }, 'Prefork' ],
    threaded => [ sub ($r) { Apache2::MPM->is_threaded }, '0' ],
    query    => [ sub ($r) { Apache2::Const->import( -compile => ':mpmq' ); Apache2::MPM->query( Apache2::Const::MPMQ_IS_THREADED() ) }, '0' ],
};
