//! Copying what the screen shows in a form that others can use: the command line that reproduces it, and the selection
//! as JSON.

use crate::app::effect::{Effect, Effects};
use crate::app::pane::PaneId;
use crate::app::source::{SourceScenario, is_file};
use crate::app::state::App;
use crate::app::update::edit::EDIT_OF;
use lightbay_core::event::{RunId, Severity};
use lightbay_core::param::{ParamValue, Setting};
use lightbay_core::plan::not_reproducible;
use lightbay_core::run::Common;
use lightbay_engines::AnyScenario;
use serde_json::{Value, json};

/// Reason that nothing can be copied at the start.
const NOTHING: &str = "nothing is open; open a file or an example first";

/// Number of passes over the changed values in the search for settings that make a scenario.
const PASSES: usize = 3;

/// Inputs of the run that the screen shows.
struct SolveInputs {
    scenario: AnyScenario,
    sha256: String,
    method: String,
    params: Vec<(String, ParamValue)>,
    common: Common,
}

impl App {
    /// Copies the command line that makes the displayed plan, or, without a plan, starts the next solve.
    pub(super) fn copy_command(&mut self, effects: &mut Effects) {
        match self.command_line() {
            Ok((command, plans)) => {
                // The command reads these plans from the session.
                for number in plans {
                    let plan = self.plans.get(number).and_then(|entry| entry.plan.clone());
                    effects.extend(plan.map(|plan| Effect::SavePlan { number, plan }));
                }
                effects.push(Effect::Copy(command));
            }
            Err(problem) => self.say(Severity::Warning, problem),
        }
    }

    /// Returns the command line that reproduces what is on the screen, and the numbers of the saved plans that it names.
    fn command_line(&self) -> Result<(String, Vec<u64>), String> {
        let work = self.work.as_ref().ok_or(NOTHING)?;
        let shown = self.shown_inputs()?;
        let mut plans = Vec::new();
        let (source, base) = self.source_of_command(&mut plans)?;
        let info = work.method(&shown.method);
        // Methods that evaluate an edit are no methods of the command line with defaults.
        let info =
            info.ok_or_else(|| format!("'{}' cannot be started from the command line", shown.method))?;
        let mut settings = Vec::new();
        for knob in shown.scenario.every_knob() {
            let value = shown.scenario.knob(&knob.name);
            if let Some(value) = value.filter(|value| base.knob(&knob.name).as_ref() != Some(value)) {
                let changes = base.knob(&knob.name).filter(|_| knob.sets_entries);
                let changes = changes.and_then(|base| changed_entries(&base.to_string(), &value.to_string()));
                settings.push(match changes {
                    Some(text) => Setting { name: knob.name.to_string(), index: None, text },
                    None => setting(&knob.name, &value),
                });
            }
        }
        let scenario_only = settings.len();
        for (name, value) in &shown.params {
            let known = info.params.iter().find(|param| param.name == **name);
            if known.is_some_and(|param| param.default.as_ref() != Some(value)) {
                settings.push(setting(name, value));
            }
        }
        let of_method = settings.split_off(scenario_only);
        let mut settings = least(&base, &shown, &settings).ok_or_else(|| {
            format!(
                "parameters do not express every change of {source}; write the scenario with {} and solve that file",
                self.keymap.hint("write")
            )
        })?;
        settings.extend(of_method);
        let mut words = vec!["lightbay".to_owned(), "solve".to_owned(), quoted(&source)];
        words.extend(["--method".to_owned(), quoted(&shown.method)]);
        for setting in &settings {
            words.extend(["--set".to_owned(), quoted(&setting.to_string())]);
        }
        let common = shown.common;
        if common.seed != Common::default().seed {
            words.extend(["--seed".to_owned(), common.seed.to_string()]);
        }
        for (flag, value) in [("--time-limit", common.time_limit_s), ("--gap", common.gap)] {
            words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.to_string()]));
        }
        if let Some(number) = self.hot_start_of_shown()? {
            words.extend(["--hot-start".to_owned(), quoted(&self.saved_name(number)?)]);
            plans.push(number);
        }
        Ok((words.join(" "), plans))
    }

    /// Returns the inputs of the displayed plan; without a plan, the inputs of the next solve.
    fn shown_inputs(&self) -> Result<SolveInputs, String> {
        let work = self.work.as_ref().ok_or(NOTHING)?;
        let Some(entry) = self.plans.shown() else {
            let now = &work.now;
            return Ok(SolveInputs {
                scenario: now.scenario.clone(),
                sha256: now.sha256.clone(),
                method: now.method.clone(),
                params: now.params_of(&now.method),
                common: now.common,
            });
        };
        let plan = &entry.usable()?.0;
        let header = plan.header();
        if header.provenance.not_reproducible_because.as_deref() == Some(not_reproducible::CHANGED) {
            return Err(format!(
                "no command makes plan {}, because {}; write the plan with {}",
                entry.number,
                not_reproducible::CHANGED,
                self.keymap.hint("write")
            ));
        }
        let params: Vec<(String, ParamValue)> =
            header.parameters.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        // A plan does not store the limits of its run; those of the newest solve apply if its run found the plan.
        let newest = self.runs.newest().into_iter().find(|run| run.method == header.method).map(|run| run.id);
        let is_newest = entry.origin.is_none_or(|(run, _)| newest == Some(run));
        let solved = work.solved.as_ref().filter(|solved| is_newest && solved.method == header.method);
        let common =
            Common { seed: header.seed, ..solved.map_or_else(Common::default, |solved| solved.common) };
        let sha256 = entry.scenario_sha256.clone();
        Ok(SolveInputs { scenario: plan.scenario(), sha256, method: header.method.clone(), params, common })
    }

    /// Returns the name of the scenario on the command line, and the scenario that this name means. If this is the
    /// scenario of a saved plan, adds the number of the plan to `plans`.
    fn source_of_command(&self, plans: &mut Vec<u64>) -> Result<(String, AnyScenario), String> {
        let work = self.work.as_ref().ok_or(NOTHING)?;
        let write = || format!("write the scenario with {} and solve that file", self.keymap.hint("write"));
        if let Some(name) = work.source.strip_prefix("preset:") {
            let base = lightbay_engines::preset(name).map_err(|problem| problem.to_string())?;
            return Ok((work.source.clone(), base));
        }
        if is_file(&work.source) {
            let base = match &work.source_scenario {
                SourceScenario::Opened => work.opened.scenario.clone(),
                SourceScenario::Read(scenario) => scenario.clone(),
                SourceScenario::Lost(why) => return Err(format!("{} {why}; {}", work.source, write())),
            };
            return Ok((work.source.clone(), base));
        }
        // The scenario of a session changes with every parameter, but the scenario of a saved plan stays.
        let Some(entry) = self.plans.shown() else {
            return Err(format!("the scenario is not in a file; {}", write()));
        };
        plans.push(entry.number);
        Ok((self.saved_name(entry.number)?, entry.usable()?.0.scenario()))
    }

    /// Returns the name of a saved plan on the command line.
    fn saved_name(&self, number: u64) -> Result<String, String> {
        let session = &self.session;
        let ended = self.plans.get(number).is_some_and(|entry| entry.status.is_some());
        let problem = match (&session.beside, &session.failing) {
            (Some(_), _) => "belongs to a session that another process has open",
            (None, Some(_)) => "is not saved now",
            (None, None) if session.name.is_empty() || !ended => "is not saved yet",
            (None, None) => return Ok(format!("session:{}/{number}", session.name)),
        };
        Err(format!("plan {number}, which the command needs, {problem}; write the plan to a file instead"))
    }

    /// Returns the plan from which the run of the displayed plan was started.
    ///
    /// # Errors
    /// If the plan was started from another plan whose number is not known.
    fn hot_start_of_shown(&self) -> Result<Option<u64>, String> {
        let Some(entry) = self.plans.shown() else { return Ok(None) };
        let Some(words) = entry.usable()?.0.header().provenance.hot_start else { return Ok(None) };
        let by_run = entry.origin.and_then(|(run, _)| self.plans.started_from.get(&run).copied());
        let by_edit = || entry.source.strip_prefix(EDIT_OF)?.parse().ok();
        let number = by_run.or_else(by_edit).filter(|number| self.plans.get(*number).is_some());
        number.map(Some).ok_or_else(|| {
            format!(
                "plan {} was started from another plan ({words}) that is not known here; solve with {} and copy again",
                entry.number,
                self.keymap.hint("solve_cold")
            )
        })
    }

    /// Copies what is selected as JSON: the plan, the parameter, the run, or the item of the pane with its details.
    pub(super) fn copy_json(&mut self, effects: &mut Effects) {
        match self.selection_json() {
            Ok(document) => {
                let text = serde_json::to_string_pretty(&document).unwrap_or_else(|_| document.to_string());
                effects.push(Effect::Copy(text));
            }
            Err(why) => self.say(Severity::Info, why),
        }
    }

    fn selection_json(&self) -> Result<Value, String> {
        let pane = self.focus.pane;
        let selected = self.pane(pane).selected;
        let about = |what: &str, mut value: Value| {
            if let (Value::Object(fields), Some(work)) = (&mut value, &self.work) {
                fields.insert("scenario".to_owned(), work.now.scenario.name().into());
                fields.insert("scenario_sha256".to_owned(), work.now.sha256.clone().into());
            }
            json!({ "schema": "lightbay.selection/1", "of": what, "selection": value })
        };
        match pane {
            PaneId::Start => {
                let sentence = self.drawn_pane(pane).map(|drawn| drawn.sentence.as_str()).unwrap_or_default();
                if sentence.is_empty() {
                    Err("this row has no data".to_owned())
                } else {
                    Ok(about("start", json!({ "source": sentence })))
                }
            }
            PaneId::Params => {
                let work = self.work.as_ref().ok_or("nothing is open")?;
                let row = selected.and_then(|id| work.row(id)).ok_or("select a parameter first")?;
                let value = serde_json::to_value(&row.value).unwrap_or_default();
                Ok(about(
                    "parameter",
                    json!({ "name": row.name, "value": value, "unit": row.info.unit, "help": row.info.help }),
                ))
            }
            PaneId::Plans => {
                let entry = self.meant_plan().ok_or("no plan exists yet")?;
                let plan = entry.usable()?;
                let bytes = plan.0.to_json().map_err(|_| "the plan cannot be written as JSON")?;
                serde_json::from_slice(&bytes).map_err(|_| "the plan cannot be written as JSON".to_owned())
            }
            PaneId::Solve => {
                let run = selected.and_then(|id| self.runs.get(RunId(u64::from(id))));
                let run =
                    run.or_else(|| self.runs.newest().first().copied()).ok_or("nothing was started yet")?;
                Ok(about(
                    "run",
                    json!({
                        "run": run.id.0,
                        "method": run.method,
                        "state": run.word(),
                        "elapsed_s": run.elapsed_s,
                        "best": run.best.as_ref().map(|best| best.value),
                        "bound": run.bound,
                        "run_scenario_sha256": run.scenario_sha256,
                    }),
                ))
            }
            PaneId::Kind(_) => {
                let drawn = self.drawn_pane(pane).ok_or("this pane is not on the screen")?;
                if drawn.sentence.is_empty() && drawn.details.is_empty() {
                    return Err("select something to copy first".to_owned());
                }
                let name = self.pane_info(pane).map_or("", |info| info.name);
                let shown = self.plans.shown();
                Ok(about(
                    "item",
                    json!({
                        "pane": name,
                        "plan": shown.map(|entry| entry.number),
                        "plan_scenario_sha256": shown.map(|entry| &entry.scenario_sha256),
                        "item": drawn.chosen.or(selected),
                        "sentence": drawn.sentence.trim_start_matches("> "),
                        "details": drawn.details,
                    }),
                ))
            }
        }
    }
}

/// Returns the entries of `wanted`, a list such as `0-1:4, 0-2:1`, that `base` does not have, with 0 for entries that only
/// `base` has; `None` if one of the lists has another form.
fn changed_entries(base: &str, wanted: &str) -> Option<String> {
    let entries_of = |text: &str| -> Option<Vec<(String, String)>> {
        let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty() && *entry != "none");
        let entry =
            |entry: &str| entry.rsplit_once(':').map(|(name, count)| (name.to_owned(), count.to_owned()));
        entries.map(entry).collect()
    };
    let (base, wanted) = (entries_of(base)?, entries_of(wanted)?);
    let set =
        wanted.iter().filter(|entry| !base.contains(entry)).map(|(name, count)| format!("{name}:{count}"));
    let stays = |name: &str| wanted.iter().any(|(other, _)| other == name);
    let removed = base.iter().filter(|(name, _)| !stays(name)).map(|(name, _)| format!("{name}:0"));
    Some(set.chain(removed).collect::<Vec<_>>().join(","))
}

fn setting(name: &str, value: &ParamValue) -> Setting {
    Setting { name: name.to_owned(), index: None, text: value.to_string() }
}

/// Returns the settings that make the scenario of the plan from `base`, in the order of the form; `None` if no choice
/// of them does. Settings of values that already follow from earlier settings are left out, because some of them cannot
/// be set.
fn least(base: &AnyScenario, shown: &SolveInputs, settings: &[Setting]) -> Option<Vec<Setting>> {
    let made = |settings: &[Setting]| {
        lightbay_engines::apply(base, &shown.method, settings).ok().map(|(scenario, _)| scenario)
    };
    let is_wanted = |scenario: &AnyScenario| scenario.sha256().is_ok_and(|sha256| sha256 == shown.sha256);
    let mut scenario = base.clone();
    let mut kept: Vec<Setting> = Vec::new();
    // A later setting may change the value of an earlier one, which the next pass then sets again.
    for _ in 0..PASSES {
        for setting in settings {
            let wanted = shown.scenario.knob(&setting.name);
            if is_wanted(&scenario) || scenario.knob(&setting.name) == wanted {
                continue;
            }
            let with: Vec<Setting> = kept.iter().chain([setting]).cloned().collect();
            if let Some(made) = made(&with) {
                (scenario, kept) = (made, with);
            }
        }
    }
    if !is_wanted(&scenario) {
        return None;
    }
    let mut at = 0;
    while at < kept.len() {
        let mut fewer = kept.clone();
        fewer.remove(at);
        if made(&fewer).is_some_and(|made| is_wanted(&made)) {
            kept = fewer;
        } else {
            at += 1;
        }
    }
    Some(kept)
}

/// Quotes a word for a POSIX shell, if it needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:=/+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{changed_entries, quoted};

    #[test]
    fn only_changed_entries_are_set() {
        let changes = |base, wanted| changed_entries(base, wanted).unwrap();
        assert_eq!(changes("0-1:1, 0-2:1, 0-3:2", "0-1:1, 0-3:4, 1-2:1"), "0-3:4,1-2:1,0-2:0");
        assert_eq!(changes("0-1:1", "none"), "0-1:0");
        assert_eq!(changed_entries("0-1", "0-1:1"), None);
    }

    #[test]
    fn words_are_quoted_for_the_shell_only_if_needed() {
        assert_eq!(quoted("preset:tiny4"), "preset:tiny4");
        assert_eq!(quoted("seq=4096,8192"), "seq=4096,8192");
        assert_eq!(quoted("name=it's"), "'name=it'\\''s'");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("p[1]=2"), "'p[1]=2'");
        assert_eq!(quoted(""), "''");
    }
}
