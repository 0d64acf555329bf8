//! Columns of consecutive epochs: starts, or presence, by epoch.

use lightbay_highs::model::Column;

/// Columns of consecutive epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ColumnSpan {
    first_epoch: u32,
    first_column: u32,
    count: u32,
}

impl ColumnSpan {
    /// Creates a span of `count` columns from `first_column`, for the epochs from `first_epoch`.
    pub(crate) const fn new(first_epoch: u32, first_column: Column, count: u32) -> Self {
        Self { first_epoch, first_column: first_column.0, count }
    }

    /// Returns the column of an epoch, if there is one.
    pub(crate) fn at(&self, epoch: u32) -> Option<Column> {
        let place = epoch.checked_sub(self.first_epoch).filter(|place| *place < self.count)?;
        Some(Column(self.first_column + place))
    }

    /// Returns all epochs with their columns.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Column)> + use<> {
        let Self { first_epoch, first_column, count } = *self;
        (0..count).map(move |place| (first_epoch + place, Column(first_column + place)))
    }
}
