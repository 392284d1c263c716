//! Image maps.

use crate::model::response::image_map::MenuForm;
use crate::table::row::{INDEXES, Row, rows, word};

pub static ROWS: &[Row] = rows![
    "mod_imagemap.c",
    word("ImapMenu", INDEXES, "none|formatted|semiformatted|unformatted", |d, word| {
        d.settings().response.image_map.menu = Some(match word.to_ascii_lowercase().as_str() {
            "none" | "no" => MenuForm::None,
            "formatted" => MenuForm::Formatted,
            "semiformatted" => MenuForm::Semiformatted,
            "unformatted" => MenuForm::Unformatted,
            _ => return Err(format!("expected none, formatted, semiformatted or unformatted, got \"{word}\"")),
        });
        Ok(())
    })
    .default("formatted", "as in httpd: browsers without images have no coordinates"),
    "The page with the links of an image map for a request without coordinates. Files are image maps with \
     `AddHandler imap-file .map`. `semiformatted` and `unformatted` have the comments of the file.",
    word("ImapDefault", INDEXES, "error|nocontent|map|referer|URL", |d, url| {
        d.settings().response.image_map.default = Some(url.to_owned());
        Ok(())
    })
    .default("nocontent", "as in httpd: the page stays"),
    "Where a click leads that is in no part of an image, unless the map has a `default`.",
    word("ImapBase", INDEXES, "map|referer|URL", |d, url| {
        d.settings().response.image_map.base = Some(url.to_owned());
        Ok(())
    })
    .default("map", "as in httpd: links are relative to the map"),
    "The URL that links of a map are relative to, unless the map has a `base`: its own, or the page with the image.",
];
