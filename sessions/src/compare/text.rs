//! A comparison as Markdown and CSV.

use super::{CompareTable, Figure, MetricChange, SettingDifference, Verdict};
use lightbay_core::cells;
use lightbay_core::param::ParamValue;
use std::fmt::Write as _;

impl CompareTable {
    /// Returns two Markdown tables: the differences, and the figures.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        let labels: Vec<String> = self.labels.iter().map(|label| cells::markdown(label)).collect();
        if self.settings.is_empty() {
            out.push_str("Settings: no difference.\n\n");
        } else {
            let _ = writeln!(out, "| setting | of | {} |", labels.join(" | "));
            let _ = writeln!(out, "|---|---|{}", "---|".repeat(labels.len()));
            for setting in &self.settings {
                let values: Vec<String> = setting
                    .values
                    .iter()
                    .map(|value| cells::markdown(&setting_text(value.as_ref())))
                    .collect();
                let _ = writeln!(
                    out,
                    "| {} | {} | {} |",
                    cells::markdown(&setting.name),
                    setting.scope.word(),
                    values.join(" | ")
                );
            }
            out.push('\n');
        }
        let _ = writeln!(out, "| figure | {} |", labels.join(" | "));
        let _ = writeln!(out, "|---|{}", "---:|".repeat(labels.len()));
        for figure in &self.figures {
            let cells: Vec<String> = figure_cells(figure);
            let _ = writeln!(out, "| {} | {} |", cells::markdown(&figure.label), cells.join(" | "));
        }
        let proofs: Vec<String> = self.proofs.iter().map(|proof| cells::markdown(&proof.gaps)).collect();
        let _ = writeln!(out, "| proof | {} |", proofs.join(" | "));
        let _ = writeln!(
            out,
            "\nChanges are against {}; figures within {} of each other are ties.",
            labels.first().map_or("", String::as_str),
            self.tolerance
        );
        let notes = self.not_ranked.iter().map(super::NotRanked::sentence).chain(self.varied_sentence());
        for note in notes {
            let _ = writeln!(out, "\n{}", cells::markdown(&note));
        }
        out
    }

    /// Returns one CSV table with a header line, a line for each setting and figure, and CRLF line ends (RFC 4180).
    /// Missing values are empty fields.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        let mut head = vec!["scope".to_owned(), "name".to_owned()];
        head.extend(self.labels.iter().map(|label| cells::csv(label)));
        for label in self.labels.iter().skip(1) {
            for what in ["difference", "percent", "verdict"] {
                head.push(cells::csv(&format!("{what} {label}")));
            }
        }
        line(&mut out, &head);
        let blank = 3 * self.labels.len().saturating_sub(1);
        for SettingDifference { scope, name, values } in &self.settings {
            let mut fields = vec![scope.word().to_owned(), cells::csv(name)];
            fields.extend(values.iter().map(|value| match value {
                Some(ParamValue::Text(text)) => cells::csv(text),
                other => cells::quoted(&setting_text_or(other.as_ref(), "")).into_owned(),
            }));
            fields.extend(std::iter::repeat_n(String::new(), blank));
            line(&mut out, &fields);
        }
        let mut fields = vec!["proof".to_owned(), "proof".to_owned()];
        fields.extend(self.proofs.iter().map(|proof| cells::csv(&proof.words)));
        fields.extend(std::iter::repeat_n(String::new(), blank));
        line(&mut out, &fields);
        for Figure { name, values, changes, .. } in &self.figures {
            let mut fields = vec!["figure".to_owned(), cells::csv(name)];
            fields
                .extend(values.iter().map(|value| value.map_or_else(String::new, |value| value.to_string())));
            for change in changes {
                fields.push(change.map_or_else(String::new, |change| change.difference.to_string()));
                let percent = change.and_then(|change| change.percent);
                fields.push(percent.map_or_else(String::new, |percent| percent.to_string()));
                fields.push(change.map_or_else(String::new, |change| change.verdict.word().to_owned()));
            }
            line(&mut out, &fields);
        }
        out
    }
}

impl MetricChange {
    /// Formats the change for people: `-1.25 % better`, `tie`, `+3 worse` (if there is no percentage).
    pub fn words(&self) -> String {
        let amount = match self.percent {
            Some(percent) if percent.abs() < 0.005 => format!("{:+.1e}", self.difference),
            Some(percent) => format!("{percent:+.2} %"),
            None => format!("{:+}", self.difference),
        };
        match self.verdict {
            Verdict::Tie => "tie".to_owned(),
            Verdict::Different => amount,
            verdict => format!("{amount} {}", verdict.word()),
        }
    }
}

pub(super) fn figure_cells(figure: &Figure) -> Vec<String> {
    let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), |value| figure.text(value));
    let mut cells: Vec<String> = figure.values.iter().take(1).map(value).collect();
    for (found, change) in figure.values.iter().skip(1).zip(&figure.changes) {
        cells.push(match change {
            Some(change) => format!("{} ({})", value(found), change.words()),
            None => value(found),
        });
    }
    cells
}

pub(super) fn setting_text(value: Option<&ParamValue>) -> String {
    setting_text_or(value, "-")
}

fn setting_text_or(value: Option<&ParamValue>, missing: &str) -> String {
    value.map_or_else(|| missing.to_owned(), ToString::to_string)
}

fn line(out: &mut String, fields: &[String]) {
    out.push_str(&fields.join(","));
    out.push_str("\r\n");
}
