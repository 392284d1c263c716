//! The contents of [`crate::frame::Field::Overrides`]: folders and the texts of their `.htaccess` files.

/// Appends a folder and the text of its `.htaccess` file. Neither contains a zero byte: paths cannot, and such a text
/// is refused earlier.
pub fn put(folder: &[u8], text: &str, out: &mut Vec<u8>) {
    for part in [folder, text.as_bytes()] {
        out.extend_from_slice(part);
        out.push(0);
    }
}

/// Folders and texts, outermost folder first. Entries that are not UTF-8 are skipped; [`put`] writes none.
pub fn pairs(field: &[u8]) -> impl Iterator<Item = (&[u8], &str)> {
    let mut parts = field.split(|byte| *byte == 0);
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
        .filter_map(|(folder, text)| Some((folder, std::str::from_utf8(text).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_in_the_order_of_writing() {
        let mut field = Vec::new();
        put(b"/srv/caf\xe9", "Options None\n", &mut field);
        put(b"/srv/caf\xe9/a", "", &mut field);
        let read: Vec<_> = pairs(&field).collect();
        assert_eq!(read, [(&b"/srv/caf\xe9"[..], "Options None\n"), (b"/srv/caf\xe9/a", "")]);
        assert_eq!(pairs(b"").count(), 0);
    }

    #[test]
    fn a_damaged_field_gives_fewer_pairs_but_no_panic() {
        assert_eq!(pairs(b"/a").count(), 0);
        assert_eq!(pairs(b"/a\0\xff\0/b\0x\0").collect::<Vec<_>>(), [(&b"/b"[..], "x")]);
    }
}
