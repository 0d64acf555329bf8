//! Results of readers: the record, with the values that were assumed and the parts that were ignored.

pub use lightbay_core::scenario::Assumed;

/// A record read from another tool's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported<T> {
    /// The record.
    pub value: T,
    /// Values that the file does not contain, each with the assumed value and the parameter that sets it.
    pub assumed: Vec<Assumed>,
    /// Parts that were ignored or are unusual, each in one sentence.
    pub notes: Vec<String>,
}

impl<T> Imported<T> {
    /// Wraps a record for which nothing was assumed.
    pub const fn new(value: T) -> Self {
        Self { value, assumed: Vec::new(), notes: Vec::new() }
    }

    /// Records an assumption.
    pub fn assume(&mut self, what: impl Into<String>, value: impl Into<String>, set_with: impl Into<String>) {
        self.assumed.push(Assumed { what: what.into(), value: value.into(), set_with: set_with.into() });
    }

    /// Adds a remark of one sentence.
    pub fn note(&mut self, sentence: impl Into<String>) {
        self.notes.push(sentence.into());
    }

    /// Converts the record and keeps the assumptions and remarks.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Imported<U> {
        Imported { value: change(self.value), assumed: self.assumed, notes: self.notes }
    }
}
