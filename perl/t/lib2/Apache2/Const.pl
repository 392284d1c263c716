# Apache2::Const: compiles constants and groups, and refuses unknown ones; run by packages.t

use v5.36;

return {
    compile => [ sub ($r) { Apache2::Const->import( -compile => qw(:common :http) ); join '|', Apache2::Const::OK(), Apache2::Const::NOT_FOUND(), Apache2::Const::HTTP_GONE() },
        '0|404|410' ],
    groups  => [ sub ($r) { Apache2::Const->import( -compile => qw(OK DECLINED DONE HTTP_CREATED M_POST OPT_EXECCGI) ); join '|', Apache2::Const::OK(), Apache2::Const::DECLINED(), Apache2::Const::DONE(), Apache2::Const::HTTP_CREATED(), Apache2::Const::M_POST() },
        '0|-1|-2|201|2' ],
    unknown => [ sub ($r) { eval { Apache2::Const->import( -compile => 'NO_SUCH' ); 1 } ? 'taken' : $@ }, qr/NO_SUCH/ ],
};
