//! The messages of a file, each after its length as a varint.

use prost::Message;

/// The rest of a file.
pub(super) struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Frames<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn is_over(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// The next message.
    ///
    /// # Errors
    /// The byte at which it begins, and why it cannot be read.
    pub(super) fn take<M: Message + Default>(&mut self, name: &str) -> Result<M, String> {
        let begin = self.at;
        let message = self.split().and_then(|frame| {
            M::decode(frame).map_err(|error| format!("it is no {name} ({error})"))
        });
        message.map_err(|problem| format!("the message at byte {begin}: {problem}"))
    }

    fn split(&mut self) -> Result<&'a [u8], String> {
        let mut rest = &self.bytes[self.at..];
        let length = prost::decode_length_delimiter(&mut rest)
            .map_err(|_| "the file ends within its length, or that is no length".to_owned())?;
        let Some((frame, rest)) = rest.split_at_checked(length) else {
            return Err(format!("it has {length} bytes, the file {} more", rest.len()));
        };
        self.at = self.bytes.len() - rest.len();
        Ok(frame)
    }
}
