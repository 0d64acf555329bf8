//! Styles as escape sequences, for output outside the workbench.

use super::{Color, Modifier, Style};

/// Returns the text with the escape sequences of a style; an empty style leaves the text unchanged.
pub fn paint(style: Style, text: &str) -> String {
    let mut codes: Vec<String> = Vec::new();
    for (modifier, code) in [
        (Modifier::BOLD, "1"),
        (Modifier::DIM, "2"),
        (Modifier::ITALIC, "3"),
        (Modifier::UNDERLINED, "4"),
        (Modifier::REVERSED, "7"),
    ] {
        if style.add_modifier.contains(modifier) {
            codes.push(code.to_owned());
        }
    }
    codes.extend(style.fg.and_then(|colour| code(colour, 30)));
    codes.extend(style.bg.and_then(|colour| code(colour, 40)));
    if codes.is_empty() { text.to_owned() } else { format!("\u{1b}[{}m{text}\u{1b}[0m", codes.join(";")) }
}

/// Returns the parameters of the escape sequence for a colour; `base` is 30 for the text colour and 40 for the
/// background.
fn code(colour: Color, base: u8) -> Option<String> {
    let named = |offset: u8| Some((base + offset).to_string());
    let bright = |offset: u8| Some((base + 60 + offset).to_string());
    match colour {
        Color::Reset => None,
        Color::Black => named(0),
        Color::Red => named(1),
        Color::Green => named(2),
        Color::Yellow => named(3),
        Color::Blue => named(4),
        Color::Magenta => named(5),
        Color::Cyan => named(6),
        Color::Gray => named(7),
        Color::DarkGray => bright(0),
        Color::LightRed => bright(1),
        Color::LightGreen => bright(2),
        Color::LightYellow => bright(3),
        Color::LightBlue => bright(4),
        Color::LightMagenta => bright(5),
        Color::LightCyan => bright(6),
        Color::White => bright(7),
        Color::Indexed(index) => Some(format!("{};5;{index}", base + 8)),
        Color::Rgb(r, g, b) => Some(format!("{};2;{r};{g};{b}", base + 8)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_every_depth() {
        assert_eq!(paint(Style::new(), "a"), "a");
        assert_eq!(paint(Style::new().fg(Color::Red), "a"), "\u{1b}[31ma\u{1b}[0m");
        let style = Style::new().bg(Color::Rgb(1, 2, 3)).add_modifier(Modifier::BOLD);
        assert_eq!(paint(style, "a"), "\u{1b}[1;48;2;1;2;3ma\u{1b}[0m");
        assert_eq!(paint(Style::new().fg(Color::Indexed(99)), "a"), "\u{1b}[38;5;99ma\u{1b}[0m");
    }
}
