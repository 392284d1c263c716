//! Listings of folders (mod_autoindex).

use crate::draft::Draft;
use crate::model::response::listing::{
    ColumnWidth, EntryDescription, EntrySign, Listing, ListingColumn, ListingOption, SignOf,
};
use crate::table::row::{INDEXES, MANY, Row, flag, rows, word, words};

/// httpd's `IconWidth` and `IconHeight` without a number.
const ICON: (u32, u32) = (20, 22);
/// Least `NameWidth` and `DescriptionWidth`: shorter ones have no room for the dots of a cut text.
const MIN_WIDTHS: (usize, usize) = (5, 12);

pub static ROWS: &[Row] = rows![
    "mod_autoindex.c",
    words("IndexOptions", INDEXES, "[+|-]option[=value]…", 1..=MANY, index_options).because("a plain list of names"),
    "Format of folder listings, which Options Indexes allows: FancyIndexing (icons, dates, sizes, descriptions), \
     HTMLTable, XHTML, FoldersFirst, IgnoreCase, VersionSort, SuppressColumnSorting, IgnoreClient (the query does not \
     sort), IconsAreLinks, IconWidth[=pixels], IconHeight[=pixels], NameWidth=number|*, DescriptionWidth=number|*, \
     ScanHTMLTitles, ShowForbidden, TrackModified, UseOldDateFormat, AddAltClass, Charset=name, Type=type, None, and \
     SuppressDescription, SuppressIcon, SuppressLastModified, SuppressRules, SuppressSize, SuppressHTMLPreamble. \
     Without a sign they replace the outer options, `+` and `-` change these.",
    words("IndexIgnore", INDEXES, "name…", 1..=MANY, index_ignore).because("everything except .ht* is listed"),
    "Names, with `*` and `?`, that are omitted from folder listings, in addition to the outer ones; `..` is the parent \
     folder.",
    flag("IndexIgnoreReset", INDEXES, |d, on| listing(d).ignored.reset = on)
        .because("IndexIgnore adds to the outer names"),
    "On: the outer names of IndexIgnore are dropped, and those behind this line count.",
    words("IndexOrderDefault", INDEXES, "Ascending|Descending Name|Date|Size|Description", 2..=2, index_order)
        .because("sorted by name"),
    "Initial order of folder listings.",
    words("AddIcon", INDEXES, "url|(text,url) name…", 2..=MANY, |d, args| icons(d, args, SignOf::path))
        .because("listings have no icons"),
    "Icon of the entries that end with a name, or match it if it has `*` or `?`, and the text for clients without \
     pictures; `^^DIRECTORY^^` is for folders, `^^BLANKICON^^` for the heading, `..` for the parent folder. The innermost \
     and first match counts, for all icons, texts and descriptions.",
    words("AddIconByType", INDEXES, "url|(text,url) type…", 2..=MANY, |d, args| icons(d, args, by_type))
        .because("listings have no icons"),
    "Icon of the entries of a media type, with `*` and `?`: `text/*`.",
    words("AddIconByEncoding", INDEXES, "url|(text,url) encoding…", 2..=MANY, |d, args| icons(d, args, by_encoding))
        .because("listings have no icons"),
    "Icon of the entries with an encoding, such as `x-gzip`. These have no icon by their type.",
    words("AddAlt", INDEXES, "text name…", 2..=MANY, |d, args| alts(d, args, SignOf::path))
        .because("folders have DIR, the parent folder PARENTDIR"),
    "Text in place of an icon for clients without pictures, for entries as with AddIcon.",
    words("AddAltByType", INDEXES, "text type…", 2..=MANY, |d, args| alts(d, args, by_type))
        .because("folders have DIR, the parent folder PARENTDIR"),
    "Text in place of an icon, for entries as with AddIconByType.",
    words("AddAltByEncoding", INDEXES, "text encoding…", 2..=MANY, |d, args| alts(d, args, by_encoding))
        .because("folders have DIR, the parent folder PARENTDIR"),
    "Text in place of an icon, for entries as with AddIconByEncoding.",
    words("AddDescription", INDEXES, "html name…", 2..=MANY, add_description).because("files have no description"),
    "Description of the entries with this part of a name, or whose name or path matches it if it has wildcards or a `/`. \
     It is HTML.",
    word("DefaultIcon", INDEXES, "url", |d, url| set(&mut listing(d).default_icon, url)).because("no icon"),
    "Icon of the entries for which no AddIcon applies.",
    word("HeaderName", INDEXES, "url-path", |d, url| set(&mut listing(d).header, url))
        .because("the title of the folder"),
    "A file of the site above the list, relative to the folder. text/html is inserted as it is, other text quoted. A \
     file that a program or server-side includes would make is left out.",
    word("ReadmeName", INDEXES, "url-path", |d, url| set(&mut listing(d).readme, url)).because("nothing"),
    "As HeaderName, below the list.",
    word("IndexHeadInsert", INDEXES, "html", |d, html| set(&mut listing(d).head_insert, html)).because("nothing"),
    "HTML for the head of the page.",
    word("IndexStyleSheet", INDEXES, "url", |d, url| set(&mut listing(d).style_sheet, url)).because("none"),
    "URL of a style sheet. With it, the parts of the page have classes and ids.",
];

fn listing(draft: &mut Draft) -> &mut Listing {
    &mut draft.settings().response.listing
}

fn set(setting: &mut Option<String>, value: &str) -> Result<(), String> {
    *setting = Some(value.to_owned());
    Ok(())
}

fn by_type(name: &str) -> SignOf {
    SignOf::Type(name.to_ascii_lowercase())
}

fn by_encoding(name: &str) -> SignOf {
    SignOf::Encoding(name.to_ascii_lowercase())
}

/// `IndexIgnore name…`
fn index_ignore(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        draft.charge_rule()?;
        listing(draft).ignored.patterns.push(name.clone());
    }
    Ok(())
}

/// `AddIcon… url|(text,url) name…`
fn icons(draft: &mut Draft, args: &[String], of: fn(&str) -> SignOf) -> Result<(), String> {
    let Some((icon, names)) = args.split_first() else { return Ok(()) };
    let (alt, icon) = match icon.strip_prefix('(') {
        Some(pair) => {
            let pair = pair.strip_suffix(')').and_then(|pair| pair.split_once(','));
            let (alt, icon) = pair.ok_or_else(|| format!("expected url or (text,url), got \"{icon}\""))?;
            (Some(alt), icon)
        }
        None => (None, icon.as_str()),
    };
    for name in names {
        draft.charge_rule()?;
        let listing = listing(draft);
        listing.icons.push(EntrySign { of: of(name), value: icon.to_owned() });
        listing.alts.extend(alt.map(|alt| EntrySign { of: of(name), value: alt.to_owned() }));
    }
    Ok(())
}

/// `AddAlt… text name…`
fn alts(draft: &mut Draft, args: &[String], of: fn(&str) -> SignOf) -> Result<(), String> {
    let Some((text, names)) = args.split_first() else { return Ok(()) };
    for name in names {
        draft.charge_rule()?;
        listing(draft).alts.push(EntrySign { of: of(name), value: text.clone() });
    }
    Ok(())
}

/// `AddDescription html name…`
fn add_description(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let Some((text, names)) = args.split_first() else { return Ok(()) };
    for name in names {
        draft.charge_rule()?;
        listing(draft).descriptions.push(EntryDescription::new(text, name));
    }
    Ok(())
}

/// `IndexOptions [+|-]option[=value]…`
fn index_options(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (mut has_none, mut has_others) = (false, false);
    for arg in args {
        let sign = arg.chars().next().filter(|sign| matches!(sign, '+' | '-'));
        let text = arg.strip_prefix(['+', '-']).unwrap_or(arg);
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let name = name.to_ascii_lowercase();
        if let (Some('-'), Some(_)) = (sign, value) {
            return Err(format!("\"{arg}\": a value cannot have the sign -"));
        }
        let listing = listing(draft);
        match (name.as_str(), value) {
            ("none", None) if sign.is_some() => return Err(format!("\"{arg}\": None cannot have a sign")),
            ("none", None) => {
                listing.options.clear();
                has_none = true;
            }
            ("iconwidth", value) => listing.icon_width = Some(pixels(sign, value, ICON.0)?),
            ("iconheight", value) => listing.icon_height = Some(pixels(sign, value, ICON.1)?),
            ("namewidth", value) => listing.name_width = Some(width(sign, value, "NameWidth", MIN_WIDTHS.0)?),
            ("descriptionwidth", value) => {
                listing.description_width = Some(width(sign, value, "DescriptionWidth", MIN_WIDTHS.1)?);
            }
            ("type", Some(value)) => listing.content_type = Some(value.to_owned()),
            ("charset", Some(value)) => listing.charset = Some(value.to_owned()),
            (name, None) => {
                let option = ListingOption::named(name).ok_or_else(|| unknown(arg))?;
                listing.options.apply(sign, option);
                has_others |= sign.is_none();
            }
            _ => return Err(unknown(arg)),
        }
    }
    match has_none && has_others {
        true => Err("None cannot stand beside other options without a sign".to_owned()),
        false => Ok(()),
    }
}

fn unknown(arg: &str) -> String {
    format!("expected an option such as FancyIndexing, HTMLTable, NameWidth=*, got \"{arg}\"")
}

/// `IconWidth[=pixels]`, `-IconWidth`
fn pixels(sign: Option<char>, value: Option<&str>, usual: u32) -> Result<u32, String> {
    match (sign, value) {
        (Some('-'), _) => Ok(0),
        (_, None) => Ok(usual),
        (_, Some(value)) => value.parse().map_err(|_| format!("expected a number of pixels, got \"{value}\"")),
    }
}

/// `NameWidth=number|*`, `-NameWidth`
fn width(sign: Option<char>, value: Option<&str>, name: &str, least: usize) -> Result<ColumnWidth, String> {
    const MAX_NUMBER: usize = 4096;
    match (sign, value) {
        (Some('-'), None) => Ok(ColumnWidth::Fixed(23)),
        (_, None) => Err(format!("{name} needs a value: {name}=number, {name}=*, or -{name}")),
        (_, Some("*")) => Ok(ColumnWidth::Longest),
        (_, Some(value)) => {
            let number = value.parse().ok().filter(|number| *number == 0 || (least..=MAX_NUMBER).contains(number));
            number
                .map(ColumnWidth::Fixed)
                .ok_or_else(|| format!("expected * or {name} from {least} to {MAX_NUMBER}, got \"{value}\""))
        }
    }
}

/// `IndexOrderDefault Ascending|Descending Name|Date|Size|Description`
fn index_order(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [direction, column] = args else { return Ok(()) };
    let backwards = match direction.to_ascii_lowercase().as_str() {
        "ascending" => false,
        "descending" => true,
        _ => return Err(format!("expected Ascending or Descending first, got \"{direction}\"")),
    };
    let column = match column.to_ascii_lowercase().as_str() {
        "name" => ListingColumn::Name,
        "date" => ListingColumn::Date,
        "size" => ListingColumn::Size,
        "description" => ListingColumn::Description,
        _ => return Err(format!("expected Name, Date, Size or Description second, got \"{column}\"")),
    };
    listing(draft).order = Some((column, backwards));
    Ok(())
}
