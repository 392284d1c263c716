# APR::Date: parses the formats of HTTP and of mail, and returns 0 for an invalid date; run by packages.t

use v5.36;

return {
    http_dates_have_three_formats => [ sub ($r) { join '|', map { APR::Date::parse_http($_) / 1e6 } 'Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994' }, qr/\A(784111777|784\.111777)(?:\|\1){2}\z/ ],
    a_mail_date_has_a_short_year  => [ sub ($r) { APR::Date::parse_rfc('Sun, 6 Nov 94 8:49:37 GMT') == APR::Date::parse_http('Sun, 06 Nov 1994 08:49:37 GMT') ? 'same' : 'other' }, 'same' ],
    an_invalid_date_is_0          => [ sub ($r) { join '|', map { APR::Date::parse_http($_) } '', 'yesterday', 'Sun, 99 Nov 1994 08:49:37 GMT' }, '0|0|0' ],
};
