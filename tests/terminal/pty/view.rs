//! Content of a terminal, as the user sees it.

/// Content of the screen at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Rows without trailing blanks.
    pub rows: Vec<String>,
    /// `true` if the terminal shows the alternate screen.
    pub alternate: bool,
    pub cursor_hidden: bool,
    /// `true` if bracketed paste is on.
    pub brackets_paste: bool,
    pub reports_mouse: bool,
}

impl View {
    pub(super) fn of(screen: &vt100::Screen) -> Self {
        let width = screen.size().1.get();
        Self {
            rows: screen.rows(0, width).map(|row| row.trim_end().to_owned()).collect(),
            alternate: screen.alternate_screen(),
            cursor_hidden: screen.hide_cursor(),
            brackets_paste: screen.bracketed_paste(),
            reports_mouse: screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None,
        }
    }

    pub fn text(&self) -> String {
        self.rows.join("\n")
    }

    pub fn has(&self, text: &str) -> bool {
        self.rows.iter().any(|row| row.contains(text))
    }

    /// Returns the number and the content of the first row that contains `text`.
    #[track_caller]
    pub fn row_of(&self, text: &str) -> (usize, &str) {
        let found = self.rows.iter().enumerate().find(|(_, row)| row.contains(text));
        let (at, row) = found.unwrap_or_else(|| panic!("'{text}' is not on the screen:\n{}", self.text()));
        (at, row)
    }

    /// Returns column and row of the first cell of `text`, counted from 0.
    #[track_caller]
    pub fn cell_of(&self, text: &str) -> (usize, usize) {
        let (at, row) = self.row_of(text);
        let before = row.split(text).next().unwrap();
        (before.chars().count(), at)
    }
}
