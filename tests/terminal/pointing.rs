//! Tests of the mouse and of pasted text.

use super::opened;
use super::pty::Place;

#[test]
fn a_click_goes_to_a_pane_and_selects() {
    let place = Place::new();
    let mut terminal = place.open(&["preset:megatron_177b", "--solve"]);
    let view = terminal.until_shown(&["OPTIMAL", "p0 dp"]);
    terminal.click(view.cell_of("5 Search"));
    let view = terminal.until_shown(&["[5 Search]"]);
    terminal.click(view.cell_of("mfu"));
    terminal.until_shown(&["═ Parameters", "> mfu"]);
    let view = terminal.view();
    terminal.click(view.cell_of("1 DAG"));
    terminal.until_shown(&["[1 DAG]"]);
}

#[test]
fn the_mouse_can_be_left_to_the_terminal() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    assert!(terminal.view().reports_mouse);
    terminal.keys("M");
    terminal.until("no reports", |view| !view.reports_mouse);
    terminal.keys("M");
    terminal.until("reports again", |view| view.reports_mouse);
    terminal.keys("Mq");
    assert_eq!(terminal.end().tidy().code, 0);
}

#[test]
fn pasted_text_never_gives_commands() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.keys("\x1b[200~qR\nx\x03\x1b[201~");
    let view = terminal.until_shown(&["paste works only in a text field"]);
    assert!(view.rows[0].contains("no plan yet"), "nothing was solved:\n{}", view.text());
    // In a field it is one edit, in one line.
    terminal.keys(":");
    terminal.until_shown(&["═ Commands"]);
    terminal.keys("\x1b[200~set\nbandwidth_gbps=800\x1b[201~");
    terminal.until_shown(&[": set bandwidth_gbps=800"]);
    terminal.keys("\r");
    terminal.until_shown(&["bandwidth_gbps      800"]);
}

#[test]
fn late_answers_of_the_terminal_are_swallowed() {
    let place = Place::new();
    let mut terminal = opened(&place, "tiny4");
    terminal.keys(":");
    terminal.until_shown(&["═ Commands"]);
    terminal.keys("qu\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?62;22c\x1b[?2026;2$y\x1b[Iit");
    let view = terminal.until_shown(&[": quit"]);
    assert!(!view.has(": quit2") && !view.has("rgb"), "{}", view.text());
}
