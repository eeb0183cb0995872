//! Errors that show their place in a scenario.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The width of a tab. It is fixed, so that the underline stays below the text in every terminal.
const TAB: &str = "    ";

/// A range of text in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it, or `--set`.
    pub file: Arc<str>,
    /// The whole text of the file.
    pub text: Arc<str>,
    /// The range of bytes in `text`.
    pub span: Range<usize>,
}

/// The line of a place, divided at the start and the end of the place.
struct Excerpt<'a> {
    number: usize,
    before: &'a str,
    marked: &'a str,
    after: &'a str,
}

impl Place {
    /// The line on which the place begins. A place of several lines ends with its first line.
    fn excerpt(&self) -> Excerpt<'_> {
        let start = char_boundary(&self.text, self.span.start);
        let end = char_boundary(&self.text, self.span.end);
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        // The place may be the line break itself, which `lines` has removed.
        let from = (start - line_start).min(line.len());
        let to = end.saturating_sub(line_start).clamp(from, line.len());
        Excerpt {
            number: self.text[..start].matches('\n').count() + 1,
            before: &line[..from],
            marked: &line[from..to],
            after: &line[to..],
        }
    }
}

/// The last boundary between characters at or before `at`.
fn char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Characters of a line that are shown before a place, of the place, and after it.
const SHOWN: usize = 80;

/// The beginning of a text.
fn beginning(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The end of a text.
fn ending(text: String) -> String {
    match text.char_indices().rev().nth(SHOWN) {
        Some((begin, left_out)) => format!("...{}", &text[begin + left_out.len_utf8()..]),
        None => text,
    }
}

/// Text for display: one column per character, without characters that move a terminal's cursor.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '\t' => shown.push_str(TAB),
            c if c.is_control() => shown.push(char::REPLACEMENT_CHARACTER),
            c => shown.push(c),
        }
    }
    shown
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Excerpt { number, before, marked, after } = self.excerpt();
        let column = before.chars().count() + 1;
        let gutter = number.to_string().len();
        let (before, marked, after) =
            (ending(shown(before)), beginning(shown(marked)), beginning(shown(after)));
        let indent = before.chars().count();
        let carets = marked.chars().count().max(1);
        let line = format!("{number} | {before}{marked}{after}");
        writeln!(f, " --> {}:{number}:{column}", self.file)?;
        writeln!(f, "{:gutter$} |", "")?;
        writeln!(f, "{}", line.trim_end())?;
        write!(f, "{:gutter$} | {:indent$}{}", "", "", "^".repeat(carets))
    }
}

/// One error: what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// Where, if it is in a file.
    pub place: Option<Place>,
    /// What to do about it.
    pub help: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        if let Some(place) = &self.place {
            write!(f, "\n{place}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\nhelp: {help}")?;
        }
        Ok(())
    }
}

/// All errors of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Diagnostic>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n\n" };
            write!(f, "{separator}{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str, span: Range<usize>) -> String {
        Place { file: "f.toml".into(), text: text.into(), span }.to_string()
    }

    fn mark_word(text: &str, word: &str) -> String {
        let start = text.find(word).unwrap();
        mark(text, start..start + word.len())
    }

    #[test]
    fn a_diagnostic_shows_message_place_and_help() {
        let text = format!("{}dealy = \"1us\"\n", "\n".repeat(11));
        let place = Place { file: "fig10.toml".into(), text: text.into(), span: 11..16 };
        let message = "unknown key \"dealy\" in [topology]".to_string();
        let help = Some("did you mean \"delay\"?".to_string());
        let expected = "\
error: unknown key \"dealy\" in [topology]
 --> fig10.toml:12:1
   |
12 | dealy = \"1us\"
   | ^^^^^
help: did you mean \"delay\"?";
        let diagnostic = Diagnostic { message, place: Some(place), help };
        assert_eq!(diagnostic.to_string(), expected);
        let bare = Diagnostic { message: "no hosts".into(), place: None, help: None };
        assert_eq!(bare.to_string(), "error: no hosts");
        let both = Problems(vec![diagnostic, bare]).to_string();
        assert_eq!(both, format!("{expected}\n\nerror: no hosts"));
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{} key = 3 {}", "a".repeat(1000), "b".repeat(1000));
        let shown = mark_word(&text, "key");
        let (before, after) = ("a".repeat(79), "b".repeat(75));
        let line = format!("1 | ...{before} key = 3 {after}...");
        let expected = format!(" --> f.toml:1:1002\n  |\n{line}\n  | {}^^^", " ".repeat(83));
        assert_eq!(shown, expected);
        let all = mark(&text, 0..text.len());
        assert!(all.ends_with(&"^".repeat(83)) && all.len() < 300, "{all}");
    }

    #[test]
    fn crlf_is_not_shown() {
        let text = "a = 1\r\nbb = 2\r\n";
        assert_eq!(mark_word(text, "bb"), " --> f.toml:2:1\n  |\n2 | bb = 2\n  | ^^");
        let at_break = " --> f.toml:1:6\n  |\n1 | a = 1\n  |      ^";
        assert_eq!(mark_word(text, "\r\n"), at_break);
        assert_eq!(mark(text, 6..7), at_break);
    }

    #[test]
    fn tabs_count_as_one_column_and_are_shown_as_four() {
        let expected = " --> f.toml:1:2\n  |\n1 |     bb    =    3\n  |     ^^";
        assert_eq!(mark_word("\tbb\t=\t3", "bb"), expected);
        let expected = " --> f.toml:1:5\n  |\n1 |     bb    =    3\n  |           ^^^^^";
        assert_eq!(mark_word("\tbb\t=\t3", "=\t"), expected);
    }

    #[test]
    fn the_underline_counts_characters() {
        let expected = " --> f.toml:1:8\n  |\n1 | 'éß' = 'µs'\n  |        ^^^^";
        assert_eq!(mark_word("'éß' = 'µs'", "'µs'"), expected);
    }

    #[test]
    fn odd_spans_do_not_panic() {
        let after_the_end = " --> f.toml:2:1\n  |\n2 |\n  | ^";
        assert_eq!(mark("a\n", 2..2), after_the_end);
        assert_eq!(mark("a\n", 90..99), after_the_end);
        assert_eq!(mark("", 0..0), " --> f.toml:1:1\n  |\n1 |\n  | ^");
        assert_eq!(mark("aé", 2..3), " --> f.toml:1:2\n  |\n1 | aé\n  |  ^");
        assert_eq!(mark("ab\ncd", 1..5), " --> f.toml:1:2\n  |\n1 | ab\n  |  ^");
        assert_eq!(mark("a\u{1b}b", 0..3), " --> f.toml:1:1\n  |\n1 | a\u{fffd}b\n  | ^^^");
    }
}
