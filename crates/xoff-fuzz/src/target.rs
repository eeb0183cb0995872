//! A target and the laws of all readers.

use crate::memory;

/// The function that reads an input: the name of the file and its contents to the reason why it is
/// refused.
#[derive(Clone, Copy, Debug)]
pub enum Input {
    /// A text in UTF-8. An error names the file, and the line unless all of it is wrong.
    Text(fn(&str, &str) -> Result<(), String>),
    /// Text whose reader does not know the name of its file.
    Bare(fn(&str) -> Result<(), String>),
    /// Bytes of a file. An error names the file.
    File(fn(&str, &[u8]) -> Result<(), String>),
    /// Bytes of no file, such as a frame.
    Bytes(fn(&[u8]) -> Result<(), String>),
    /// Steps that happen to a side of a protocol. Nothing is refused as a whole.
    Program(fn(&[u8])),
}

/// A reader, and what its inputs may do.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is that of its folder in `seeds/`.
    pub name: &'static str,
    /// The name of the file that the reader is given.
    pub file: &'static str,
    /// How it reads.
    pub input: Input,
    /// Memory that an input may take, whatever its length.
    pub base_bytes: usize,
    /// Memory that it may take in addition, for each of its bytes.
    pub bytes_per_byte: usize,
    /// Other files that are seeds, each as a folder of the repository and the end of the files'
    /// names.
    pub more_seeds: &'static [(&'static str, &'static str)],
    /// Changed seeds that `cargo test` reads.
    pub changes: u64,
}

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Whether it was read, not refused.
    pub is_read: bool,
    /// The most memory that this took, in bytes.
    pub bytes: usize,
}

impl Target {
    /// Reads an input.
    ///
    /// # Panics
    /// If a law is broken.
    pub fn check(&self, input: &[u8]) -> Reading {
        let text = String::from_utf8_lossy(input);
        let (outcome, bytes) = memory::most_of(|| match self.input {
            Input::Text(read) => read(self.file, &text),
            Input::Bare(read) => read(&text),
            Input::File(read) => read(self.file, input),
            Input::Bytes(read) => read(input),
            Input::Program(run) => {
                run(input);
                Ok(())
            }
        });
        let allowed = self.base_bytes + self.bytes_per_byte * input.len();
        assert!(bytes <= allowed, "{bytes} bytes of memory for {} of input", input.len());
        if let Err(refusal) = &outcome {
            self.check_refusal(refusal, &text);
        }
        Reading { is_read: outcome.is_ok(), bytes }
    }

    /// Checks that a refusal says enough and not too much.
    fn check_refusal(&self, refusal: &str, text: &str) {
        assert!(!refusal.is_empty(), "it is refused without a reason");
        assert!(refusal.len() <= LONGEST + 2 * text.len(), "a long refusal: {refusal}");
        if matches!(self.input, Input::Text(_) | Input::File(_)) {
            let stem = self.file.rsplit('/').next().unwrap_or_default();
            let stem = stem.split('.').next().unwrap_or_default();
            assert!(refusal.contains(stem), "no file: {refusal}");
        }
        if let (Input::Text(_), Some(line)) = (self.input, line_of(refusal, self.file)) {
            let last = text.split('\n').count();
            assert!((1..=last).contains(&line), "line {line} of {last}: {refusal}");
        }
    }
}

/// Bytes of a refusal with several errors that quote their lines.
const LONGEST: usize = 8000;

/// The line behind the name of the file.
fn line_of(refusal: &str, file: &str) -> Option<usize> {
    let (_, rest) = refusal.split_once(file)?;
    let rest = rest.strip_prefix(", line ").or_else(|| rest.strip_prefix(':'))?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(text: &str) -> Result<(), String> {
        Err(text.into())
    }

    const TARGET: Target = Target {
        name: "test",
        file: "in.txt",
        input: Input::Text(|_, text| refuse(text)),
        base_bytes: 1000,
        bytes_per_byte: 10,
        more_seeds: &[],
        changes: 0,
    };

    fn holds(target: Target, text: &str) -> bool {
        std::panic::catch_unwind(|| target.check(text.as_bytes())).is_ok()
    }

    #[test]
    fn a_refusal_names_the_file_and_one_of_its_lines() {
        assert!(holds(TARGET, "in.txt:1: it is wrong"));
        assert!(holds(TARGET, "in.txt: it is empty"));
        assert!(holds(TARGET, "in.txt, line 2: wrong\n"));
        for wrong in ["", "wrong", "in.txt:2: wrong", "in.txt, line 0: wrong"] {
            assert!(!holds(TARGET, wrong), "{wrong}");
        }
        assert!(holds(Target { input: Input::Bare(refuse), ..TARGET }, "wrong"));
    }

    #[test]
    fn memory_is_bounded_by_the_input() {
        let reads = |bytes: &[u8]| {
            drop(vec![0u8; 1000 + 11 * bytes.len()]);
            Ok(())
        };
        let target = Target { input: Input::Bytes(reads), ..TARGET };
        assert!(!holds(target, "text"));
        assert!(holds(Target { bytes_per_byte: 11, ..target }, "text"));
    }
}
