# APR::Util: checks passwords against their hashes, and finds the name in a path; run by packages.t

use v5.36;

return {
    password_validate_accepts_the_password     => [ sub ($r) { APR::Util::password_validate( 'secret', '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=' ) ? 'right' : 'wrong' }, 'right' ],
    password_validate_refuses_another_password => [ sub ($r) { join '|', map { APR::Util::password_validate( 'other', $_ ) ? 'right' : 'wrong' } '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=', '', '{SHA}', '$apr1$' }, 'wrong|wrong|wrong|wrong' ],
    filepath_name_get_gives_the_last_part      => [ sub ($r) { join '|', map { APR::Util::filepath_name_get($_) } '/etc/passwd', 'passwd', '/etc/' }, 'passwd|passwd|' ],
};
