//! A comparison as LaTeX and as HTML.

use super::text::{figure_cells, setting_text};
use super::{CompareTable, NotRanked};
use std::fmt::Write as _;

impl CompareTable {
    /// Removes the figures that are equal in all plans, within the tolerance.
    #[must_use]
    pub fn only_differences(mut self) -> Self {
        self.figures.retain(|figure| {
            let is_tie = |index: usize| {
                figure.changes.get(index).copied().flatten().map_or_else(
                    || {
                        figure.values.get(index + 1).copied().flatten()
                            == figure.values.first().copied().flatten()
                    },
                    |change| change.verdict == super::Verdict::Tie,
                )
            };
            !(0..figure.values.len().saturating_sub(1)).all(is_tie)
        });
        self
    }

    /// Returns the rows of both tables as text: settings with their owner, and figures with changes.
    fn rows(&self) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
        let settings = self.settings.iter().map(|setting| {
            let values = setting.values.iter().map(|value| setting_text(value.as_ref()));
            [setting.name.clone(), setting.scope.word().to_owned()].into_iter().chain(values).collect()
        });
        let figures = self
            .figures
            .iter()
            .map(|figure| std::iter::once(figure.label.clone()).chain(figure_cells(figure)).collect());
        let proofs = self.proofs.iter().map(|proof| proof.gaps.clone());
        let proofs = std::iter::once("proof".to_owned()).chain(proofs).collect();
        (settings.collect(), figures.chain([proofs]).collect())
    }

    /// Returns the remarks below the tables.
    fn remarks(&self) -> Vec<String> {
        let changes = format!(
            "Changes are against {}; figures within {} of each other are ties.",
            self.labels.first().map_or("", String::as_str),
            self.tolerance
        );
        let notes = self.not_ranked.iter().map(NotRanked::sentence).chain(self.varied_sentence());
        std::iter::once(changes).chain(notes).collect()
    }

    /// Returns two `tabular` environments for a LaTeX document, and the remarks as paragraphs. Needs no package.
    pub fn to_latex(&self) -> String {
        let (settings, figures) = self.rows();
        let mut out = String::new();
        let mut table = |columns: &str, head: &[&str], rows: &[Vec<String>]| {
            let line =
                |cells: &[String]| cells.iter().map(|cell| latex(cell)).collect::<Vec<_>>().join(" & ");
            let head: Vec<String> =
                head.iter().map(|cell| (*cell).to_owned()).chain(self.labels.iter().cloned()).collect();
            let _ =
                writeln!(out, "\\begin{{tabular}}{{{columns}{}}}\n\\hline", "r".repeat(self.labels.len()));
            let _ = writeln!(out, "{} \\\\\n\\hline", line(&head));
            for row in rows {
                let _ = writeln!(out, "{} \\\\", line(row));
            }
            let _ = writeln!(out, "\\hline\n\\end{{tabular}}\n");
        };
        if !settings.is_empty() {
            table("ll", &["setting", "of"], &settings);
        }
        table("l", &["figure"], &figures);
        for remark in self.remarks() {
            let _ = writeln!(out, "{}\n", latex(&remark));
        }
        out
    }

    /// Returns a complete HTML document. It loads nothing from other places.
    pub fn to_html(&self) -> String {
        let (settings, figures) = self.rows();
        let title = format!("Comparison of {}", self.labels.join(", "));
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n\
             body {{ font-family: sans-serif; }}\ntable {{ border-collapse: collapse; margin: 1em 0; }}\n\
             th, td {{ border-bottom: 1px solid #999; padding: 0.2em 0.8em; text-align: right; }}\n\
             th:first-child, td:first-child {{ text-align: left; }}\n</style>\n</head>\n<body>\n",
            html(&title)
        );
        let mut table = |head: &[&str], rows: &[Vec<String>]| {
            let line = |cells: &[String], tag: &str| {
                let cells = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", html(cell)));
                format!("<tr>{}</tr>\n", cells.collect::<String>())
            };
            let head: Vec<String> =
                head.iter().map(|cell| (*cell).to_owned()).chain(self.labels.iter().cloned()).collect();
            out.push_str("<table>\n<thead>\n");
            out.push_str(&line(&head, "th"));
            out.push_str("</thead>\n<tbody>\n");
            for row in rows {
                out.push_str(&line(row, "td"));
            }
            out.push_str("</tbody>\n</table>\n");
        };
        if settings.is_empty() {
            table(&["figure"], &figures);
        } else {
            table(&["setting", "of"], &settings);
            table(&["figure"], &figures);
        }
        for remark in self.remarks() {
            let _ = writeln!(out, "<p>{}</p>", html(&remark));
        }
        out.push_str("</body>\n</html>\n");
        out
    }
}

/// Escapes text for LaTeX; characters without a glyph in the usual fonts are replaced.
fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', letter]),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '−' => out.push_str("$-$"),
            '×' => out.push_str("$\\times$"),
            '→' => out.push_str("$\\rightarrow$"),
            '…' => out.push_str("\\ldots{}"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

/// Escapes text for HTML.
fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}
