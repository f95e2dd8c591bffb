//! Bytes that say one thing only: what hashes and stamps are made over.

/// Fields in a fixed order, each with its length before it, so that no content can be taken for a boundary.
#[derive(Debug)]
pub(crate) struct Canonical(Vec<u8>);

impl Canonical {
    /// `domain` names what the bytes are for, with a version: bytes of one purpose never pass for another's.
    pub(crate) fn new(domain: &str) -> Self {
        let mut bytes = Self(Vec::new());
        bytes.text(domain);
        bytes
    }

    /// Eight bytes of length, big-endian, then UTF-8.
    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Eight bytes of count, then each text.
    pub(crate) fn texts(&mut self, texts: impl ExactSizeIterator<Item: AsRef<str>>) {
        self.count(texts.len());
        texts.for_each(|text| self.text(text.as_ref()));
    }

    /// A list of none or one.
    pub(crate) fn option(&mut self, text: Option<&str>) {
        self.texts(text.into_iter());
    }

    /// Eight bytes, big-endian: how many of something follow.
    pub(crate) fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u64).to_be_bytes());
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
