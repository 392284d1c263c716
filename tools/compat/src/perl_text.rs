//! Perl text without POD, comments and text behind `__END__`.

/// Line numbers, from 1, and the code of the lines. Strings are retained: only perl itself can distinguish them from
/// code.
pub fn code_lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let mut in_pod = false;
    let lines = text.lines().take_while(|line| !matches!(line.trim_end(), "__END__" | "__DATA__"));
    (1..).zip(lines).filter_map(move |(number, line)| {
        if line.starts_with("=cut") {
            in_pod = false;
            return None;
        }
        in_pod |= line.strip_prefix('=').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
        let code = without_comment(line);
        (!in_pod && !code.is_empty()).then_some((number, code))
    })
}

/// A comment begins at the start of a line or after a space: `$#list` and `s#a#b#` have none.
fn without_comment(line: &str) -> &str {
    let trimmed = line.trim_start();
    if trimmed.starts_with('#') {
        return "";
    }
    line.split(" #").next().unwrap_or(line).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pod_comments_and_data_are_left_out_and_lines_keep_their_numbers() {
        let text = "use Apache;\n# Apache->no\n=head1 X\n$r->no;\n=cut\n$r->print($#a); # $r->no\n__END__\n$r->no\n";
        let lines: Vec<_> = code_lines(text).collect();
        assert_eq!(lines, [(1, "use Apache;"), (6, "$r->print($#a);")]);
    }
}
