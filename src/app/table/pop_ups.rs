//! The part of the action table that applies in layers, such as pop-ups.

use super::{ActionInfo, TableGroup, TablePlace};
use crate::app::action::{Command, LayerCommand};
use crate::app::layer::LayerKind;

/// Returns all actions of this table.
pub(super) fn actions() -> Vec<ActionInfo> {
    use ActionInfo as A;
    use LayerKind as L;
    const TYPED: &[L] = &[L::Help, L::Palette, L::EditKnob, L::Export, L::Search];
    const READ: &[L] = &[L::Compare, L::Log, L::Runs, L::Panes, L::Text];
    const CHOOSE: &[L] = &[
        L::Help,
        L::Palette,
        L::EditKnob,
        L::EditCell,
        L::Confirm,
        L::Export,
        L::Runs,
        L::Panes,
        L::Search,
        L::Log,
    ];
    const SEARCHED: &[L] = &[L::Log, L::Runs, L::Panes];
    let layer = |places, name, keys, command, help| A {
        place: TablePlace::Layers(places),
        group: TableGroup::PopUp,
        ..A::new(name, keys, Command::Layer(command), help)
    };
    vec![
        A {
            place: TablePlace::Layers(TYPED),
            ..A::new("close", &["Esc"], Command::Back, "close the pop-up")
        }
        .footer(10, "close"),
        A {
            place: TablePlace::Layers(READ),
            ..A::new("close_view", &["Esc", "q"], Command::Back, "close the pop-up")
        }
        .footer(10, "close"),
        A {
            place: TablePlace::Layers(&[L::EditCell]),
            ..A::new("discard", &["Esc"], Command::Back, "discard the edit")
        }
        .footer(10, "discard"),
        A {
            place: TablePlace::Layers(&[L::Confirm]),
            ..A::new("stay", &["Esc"], Command::Back, "keep everything as it is")
        }
        .footer(10, "stay"),
        layer(CHOOSE, "accept", &["Enter"], LayerCommand::Accept, "accept what is chosen or typed")
            .footer(9, "accept"),
        layer(TYPED, "next_choice", &["Down"], LayerCommand::Next, "choose the next line, name or format")
            .footer(6, "next"),
        layer(
            TYPED,
            "previous_choice",
            &["Up"],
            LayerCommand::Previous,
            "choose the previous line, name or format",
        ),
        layer(
            &[L::Palette, L::Export],
            "complete",
            &["Tab"],
            LayerCommand::Complete,
            "complete the chosen name or value",
        )
        .footer(7, "complete"),
        layer(TYPED, "next_page", &["PgDn"], LayerCommand::PageDown, "go a page down"),
        layer(TYPED, "previous_page", &["PgUp"], LayerCommand::PageUp, "go a page up"),
        layer(READ, "scroll_down", &["j", "Down"], LayerCommand::Down, "scroll or choose downwards")
            .footer(4, "down"),
        layer(READ, "scroll_up", &["k", "Up"], LayerCommand::Up, "scroll or choose upwards").footer(4, "up"),
        A {
            place: TablePlace::Layers(SEARCHED),
            ..A::new("search_view", &["/"], Command::Search, "search for text")
        }
        .footer(5, "search"),
        A {
            place: TablePlace::Layers(SEARCHED),
            ..A::new("next_match", &["n"], Command::Find(1), "go to the next match of the search")
        },
        A {
            place: TablePlace::Layers(SEARCHED),
            ..A::new("previous_match", &["N"], Command::Find(-1), "go to the previous match of the search")
        },
        layer(READ, "scroll_page_down", &["PgDn", "C-d"], LayerCommand::PageDown, "scroll a page down"),
        layer(READ, "scroll_page_up", &["PgUp", "C-u"], LayerCommand::PageUp, "scroll a page up"),
        layer(
            &[L::Compare],
            "next_pair",
            &["Tab"],
            LayerCommand::Next,
            "show the next plan of the comparison, or all plans",
        )
        .footer(7, "next view"),
        layer(
            &[L::Compare],
            "previous_pair",
            &["S-Tab"],
            LayerCommand::Previous,
            "show the previous plan of the comparison, or all plans",
        ),
        layer(
            &[L::Compare],
            "only_differences",
            &["d"],
            LayerCommand::Differing,
            "show only figures that differ, or all figures",
        )
        .footer(5, "only differences"),
        A {
            place: TablePlace::Layers(&[L::Compare]),
            ..A::new("compare_baseline", &["B"], Command::Baseline, "make the compared plan the baseline")
        }
        .footer(6, "make baseline"),
        A {
            place: TablePlace::Layers(&[L::Compare]),
            ..A::new("write_table", &["w"], Command::Write, "write the comparison to a file")
        }
        .footer(6, "write table"),
        A {
            place: TablePlace::Layers(&[L::Compare, L::Log, L::Text]),
            ..A::new("copy_view", &["y"], Command::Copy, "copy the comparison, the text or the chosen line")
        }
        .footer(5, "copy"),
        layer(&[L::EditCell], "raise", &["+"], LayerCommand::Raise, "add one to the entry").footer(8, "more"),
        layer(&[L::EditCell], "lower", &["-"], LayerCommand::Lower, "subtract one from the entry")
            .footer(8, "less"),
        layer(&[L::Confirm], "answer_yes", &["y"], LayerCommand::Yes, "answer yes").footer(8, "yes"),
        layer(&[L::Confirm], "answer_no", &["n", "q"], LayerCommand::No, "answer no").footer(8, "no"),
        layer(
            &[L::Confirm],
            "other_answer",
            &["Tab", "Left", "Right", "h", "l"],
            LayerCommand::Next,
            "choose the other answer",
        )
        .footer(4, "other"),
    ]
    .into_iter()
    .map(|action| A { group: TableGroup::PopUp, ..action })
    .collect()
}
