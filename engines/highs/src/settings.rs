//! Applies options to an instance. Names, types and ranges are checked against the solver, so that an error names the
//! option, the value and the valid values.

use crate::error::Error;
use crate::options::{MIN_START_SHARE, OptionValue, Options};
use crate::raw::{Highs, OptionInfo};

/// The state of an instance's options, as far as HiGHS does not store it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Minimum fraction of the integer columns for which a start must give values.
    pub min_start_share: f64,
    /// `true` if a caller switched off the output with the option `output_flag`. While `prints` is `true`, the output
    /// is off too, whether or not a caller switched it off.
    quiet: bool,
    prints: bool,
}

impl Settings {
    /// Sets the defaults of this crate on a new instance.
    pub fn new(highs: &mut Highs) -> Result<Self, Error> {
        highs.set_bool("log_to_console", false)?;
        highs.set_bool("output_flag", true)?;
        highs.set_int("threads", 1)?;
        highs.set_float("mip_min_logging_interval", 0.2)?;
        Ok(Self { min_start_share: 0.2, quiet: false, prints: false })
    }

    /// Applies options in order; options before an invalid one stay applied.
    pub fn apply(&mut self, highs: &mut Highs, options: &Options) -> Result<(), Error> {
        for (name, value) in &options.0 {
            self.set(highs, name, value)?;
        }
        Ok(())
    }

    fn set(&mut self, highs: &mut Highs, name: &str, value: &OptionValue) -> Result<(), Error> {
        let wrong = |allowed: &str| Error::OptionValue {
            name: name.to_owned(),
            value: value.to_string(),
            allowed: allowed.to_owned(),
        };
        if name == MIN_START_SHARE {
            return match *value {
                OptionValue::Float(share) if (0.0..=1.0).contains(&share) => {
                    self.min_start_share = share;
                    Ok(())
                }
                OptionValue::Int(share @ 0..=1) => {
                    self.min_start_share = f64::from(share);
                    Ok(())
                }
                _ => Err(wrong("a number from 0 to 1")),
            };
        }
        if name == "log_to_console" && *value != OptionValue::Bool(false) {
            return Err(wrong("false, because the screen of lightbay uses the terminal"));
        }
        if name.ends_with("_file") && *value != OptionValue::Text(String::new()) {
            return Err(wrong("the empty text, because the solver must not write files"));
        }
        let Some(info) = highs.option_info(name) else {
            let mut names = highs.option_names();
            names.push(MIN_START_SHARE.to_owned());
            return Err(Error::UnknownOption { name: name.to_owned(), remedy: nearest(name, &names) });
        };
        match (info, value) {
            (OptionInfo::Bool { .. }, OptionValue::Bool(on)) => {
                if name == "output_flag" {
                    self.quiet = !on;
                }
                if highs.set_bool(name, *on)? { Ok(()) } else { Err(wrong("true or false")) }
            }
            (OptionInfo::Int { least, most, .. }, OptionValue::Int(number)) => {
                let inside = (least..=most).contains(number);
                if inside && highs.set_int(name, *number)? {
                    Ok(())
                } else {
                    Err(wrong(&format!("whole numbers from {least} to {most}")))
                }
            }
            (OptionInfo::Float { least, most, .. }, OptionValue::Float(_) | OptionValue::Int(_)) => {
                let number = match *value {
                    OptionValue::Int(number) => f64::from(number),
                    OptionValue::Float(number) => number,
                    _ => f64::NAN,
                };
                let inside = number >= least && number <= most;
                if inside && highs.set_float(name, number)? {
                    Ok(())
                } else {
                    Err(wrong(&format!("numbers from {least:?} to {most:?}")))
                }
            }
            (OptionInfo::Text { .. }, OptionValue::Text(word)) => self.set_word(highs, name, word),
            (OptionInfo::Bool { .. }, _) => Err(wrong("true or false")),
            (OptionInfo::Int { least, most, .. }, _) => {
                Err(wrong(&format!("whole numbers from {least} to {most}")))
            }
            (OptionInfo::Float { least, most, .. }, _) => {
                Err(wrong(&format!("numbers from {least:?} to {most:?}")))
            }
            (OptionInfo::Text { .. }, _) => Err(wrong(words(name).unwrap_or("a word"))),
        }
    }

    fn set_word(&mut self, highs: &mut Highs, name: &str, word: &str) -> Result<(), Error> {
        // HiGHS runs `ipm` as HiPO if its extra library is present, otherwise as IPX, so the same option would select
        // different methods on different machines.
        let spelled = if name == "solver" && word == "ipm" { "ipx" } else { word };
        if !highs.set_text(name, spelled)? {
            let mut allowed = words(name).unwrap_or("another word").to_owned();
            if word == "hipo" {
                allowed.push_str("; hipo needs the library libhighs_extras of the same version");
            }
            return Err(Error::OptionValue { name: name.to_owned(), value: word.to_owned(), allowed });
        }
        if name == "solver" {
            // PDLP writes its table to standard output; only `output_flag` suppresses the table.
            self.prints = spelled == "pdlp";
            highs.set_bool("output_flag", !self.quiet && !self.prints)?;
        }
        Ok(())
    }
}

/// Returns the words that an option accepts, which HiGHS does not report.
fn words(name: &str) -> Option<&'static str> {
    match name {
        "presolve" | "parallel" | "run_crossover" | "ranging" | "crossover" => Some("off, choose, on"),
        "solver" => Some("choose, simplex, ipx, hipo, pdlp, hipdlp, qpasm"),
        "mip_lp_solver" => Some("choose, simplex, ipx, hipo"),
        "mip_ipm_solver" => Some("choose, ipx, hipo"),
        _ => None,
    }
}

fn nearest(name: &str, names: &[String]) -> String {
    let best = names.iter().min_by_key(|known| distance(name, known));
    match best {
        Some(known) if distance(name, known) <= name.len().max(6) / 2 => format!("did you mean '{known}'?"),
        _ => "see the list of options in the documentation of HiGHS".to_owned(),
    }
}

/// Returns the edit distance: the minimum number of letters to add, drop or change.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (done, letter) in from.chars().enumerate() {
        let mut corner = row[0];
        row[0] = done + 1;
        for (place, other) in to.iter().enumerate() {
            let change = corner + usize::from(letter != *other);
            corner = row[place + 1];
            row[place + 1] = change.min(corner + 1).min(row[place] + 1);
        }
    }
    row[to.len()]
}
