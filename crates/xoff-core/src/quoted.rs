//! Strings of TOML.

/// A text in quotes, in one line. Invisible characters are escaped with four or eight digits: the
/// escapes of Rust's `Debug` are no TOML.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown = String::from("\"");
    for letter in text.chars() {
        match letter {
            '\'' => shown.push(letter),
            '\0' => shown += "\\u0000",
            _ if letter.escape_debug().eq(letter.escape_unicode()) => {
                shown += &format!("\\U{:08X}", u32::from(letter));
            }
            _ => shown.extend(letter.escape_debug()),
        }
    }
    shown.push('"');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shown_as_toml() {
        for (text, shown) in [
            ("it's \"so\"\\", r#""it's \"so\"\\""#),
            ("a\n\t\r", r#""a\n\t\r""#),
            ("\0\u{7f}\u{200b}\u{1f600}", "\"\\u0000\\U0000007F\\U0000200B\u{1f600}\""),
        ] {
            assert_eq!(quoted(text), shown);
        }
    }
}
