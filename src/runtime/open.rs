//! Opens files, presets and saved sessions on another thread, as one bundle that becomes the open scenario.

use crate::app::action::{Heard, Opened, Recent, Saving, SessionView};
use crate::app::effect::{Remembered, Source};
use crate::app::plans::{PlanEntry, PlanRef};
use crate::app::source::{SourceScenario, is_file};
use crate::app::work::Setup;
use crate::runtime::follow::Following;
use crate::runtime::saved_plans::saved_plans;
use lightbay_core::clock::Clock;
use lightbay_core::event::{RunId, Severity};
use lightbay_core::kind::Sense;
use lightbay_core::param::ParamValue;
use lightbay_core::standing::Standing;
use lightbay_engines::{AnyFile, AnyPlan, AnyScenario, Product, saved_standing};
use lightbay_sessions::resume::{self, RecentEntry};
use lightbay_sessions::writer::Notify;
use lightbay_sessions::{
    NewSession, Places, PlanBook, PlanId, Replay, ReplayLimits, SaveState, SaveStatus, Session, SessionFile,
    SessionWriter, Store,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Opens scenarios, plans and sessions.
#[derive(Clone)]
pub struct Opener {
    /// Folders of this user.
    pub places: Places,
    /// The program's clock.
    pub clock: Arc<dyn Clock>,
    /// Function that is called when the state of saving changes.
    pub notify: Arc<dyn Fn(Saving) + Send + Sync>,
    /// Number of scenarios opened so far.
    pub desks: Arc<AtomicU64>,
}

/// An opened scenario with all its data.
pub struct Bundle {
    /// The opened scenario in the form that the state stores.
    pub opened: Opened,
    /// Assigns the numbers of the plans in the session.
    pub book: Arc<PlanBook>,
    /// Number of the next run.
    pub next_run: RunId,
    /// Initial content of `session.toml`.
    pub file: SessionFile,
    /// A session that another process has open: its plans are shown, and plans found here are saved in a second session.
    pub looked_at: Option<Arc<Session>>,
    /// Active runs of the process that has the session `looked_at` open, if there are any.
    pub following: Option<Following>,
    /// Writer of the session; `None` only if its thread cannot be started.
    pub writer: Option<SessionWriter>,
    /// `true` if the session is new and empty, so that it can be deleted if nothing happens in it.
    pub fresh: bool,
}

/// Reasons that a scenario, plan or session could not be opened, one line each.
pub type Refused = Vec<String>;

/// Returns the problems as text, one line each.
pub fn lines(problems: &lightbay_core::problem::Problems) -> Refused {
    problems.to_string().lines().map(str::to_owned).collect()
}

impl Opener {
    fn store(&self) -> Store {
        Store::at(self.places.sessions())
    }

    /// Opens a scenario, plan, preset or saved session.
    ///
    /// # Errors
    /// All problems.
    pub fn open(&self, source: &Source) -> Result<Option<Bundle>, Refused> {
        match source {
            Source::Nothing => Ok(None),
            Source::Last => match lightbay_sessions::resume::last_session(&self.places) {
                Some(name) => self.session(&name).map(Some),
                None => Ok(None),
            },
            Source::Session(name) => match name.split_once('/') {
                None => self.session(name).map(Some),
                Some((name, plan)) => self.session_at(name, plan).map(Some),
            },
            Source::Preset(name) => {
                let scenario = lightbay_engines::preset(name).map_err(|problem| vec![problem.to_string()])?;
                Ok(Some(self.scenario(scenario, &format!("preset:{name}"), Vec::new())))
            }
            Source::File(path) => self.file(path).map(Some),
        }
    }

    /// Opens a scenario in a new session.
    pub fn scenario(
        &self,
        scenario: AnyScenario,
        source: &str,
        mut notes: Vec<(Severity, String)>,
    ) -> Bundle {
        let book = Arc::new(PlanBook::new());
        let key = self.next_desk();
        let writer = self.begin(scenario.name(), &scenario, &book, key, &mut notes);
        let file = SessionFile::new(scenario.kind(), scenario.name(), &self.clock.date());
        let opened = Opened {
            source: source.to_owned(),
            scenario,
            plans: Vec::new(),
            events: Vec::new(),
            remembered: None,
            session: SessionView { key, ..SessionView::default() },
            notes,
            solve: None,
        };
        Bundle {
            opened,
            book,
            next_run: RunId(1),
            file,
            looked_at: None,
            following: None,
            writer,
            fresh: true,
        }
    }

    fn next_desk(&self) -> u64 {
        self.desks.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Makes a session for a scenario. If the session cannot be created now, all data waits until it can be created.
    fn begin(
        &self,
        wanted: &str,
        scenario: &AnyScenario,
        book: &Arc<PlanBook>,
        key: u64,
        notes: &mut Vec<(Severity, String)>,
    ) -> Option<SessionWriter> {
        let value = match scenario.to_value() {
            Ok(value) => value,
            Err(error) => {
                notes.push((Severity::Error, format!("nothing will be saved: {error}")));
                return None;
            }
        };
        let (store, kind) = (self.store(), scenario.kind());
        match store.create(wanted, kind, &value, &self.clock.date()) {
            Ok(session) => self.writer(&session, book, key, notes),
            Err(error) => {
                let new_session = NewSession {
                    store,
                    name: wanted.to_owned(),
                    kind: kind.to_owned(),
                    scenario: Arc::new(value),
                };
                let (book, clock) = (Arc::clone(book), Arc::clone(&self.clock));
                let writer = SessionWriter::start_without_folder(
                    new_session,
                    &error,
                    book,
                    clock,
                    self.notify_as(key),
                );
                writer.map_err(|error| notes.push(no_thread(&error))).ok()
            }
        }
    }

    /// Makes a session that is created when its first plan is found.
    fn begin_later(
        &self,
        wanted: &str,
        scenario: &AnyScenario,
        book: &Arc<PlanBook>,
        key: u64,
        notes: &mut Vec<(Severity, String)>,
    ) -> Option<SessionWriter> {
        let new_session = match scenario.to_value() {
            Ok(value) => NewSession {
                store: self.store(),
                name: wanted.to_owned(),
                kind: scenario.kind().to_owned(),
                scenario: Arc::new(value),
            },
            Err(error) => {
                notes.push((Severity::Error, format!("nothing will be saved: {error}")));
                return None;
            }
        };
        let (book, clock) = (Arc::clone(book), Arc::clone(&self.clock));
        let writer = SessionWriter::start_deferred(new_session, book, clock, self.notify_as(key));
        writer.map_err(|error| notes.push(no_thread(&error))).ok()
    }

    /// Opens the result of an import in a new session.
    pub fn product(&self, product: Product, source: &str, notes: Vec<(Severity, String)>) -> Bundle {
        match product {
            Product::Scenario(scenario) => self.scenario(scenario, source, notes),
            Product::Plan(plan) => self.plan(plan, source, notes),
        }
    }

    /// Opens a plan with its scenario in a new session.
    pub fn plan(&self, plan: AnyPlan, source: &str, notes: Vec<(Severity, String)>) -> Bundle {
        let mut bundle = self.scenario(plan.scenario(), source, notes);
        let number = bundle.book.assign_loose();
        if let Some(writer) = &bundle.writer {
            writer.keep(number, plan.shared());
        }
        let plan = PlanRef(plan);
        bundle.opened.plans.push(crate::app::entry_of(number.0, &plan, None, source));
        bundle.fresh = false;
        bundle
    }

    fn writer(
        &self,
        session: &Session,
        book: &Arc<PlanBook>,
        key: u64,
        notes: &mut Vec<(Severity, String)>,
    ) -> Option<SessionWriter> {
        let (own, clock) = (Arc::clone(book), Arc::clone(&self.clock));
        match SessionWriter::start(session, own, clock, self.notify_as(key)) {
            Ok(writer) => {
                notes.extend(writer.remarks().iter().map(|remark| (Severity::Warning, remark.clone())));
                Some(writer)
            }
            Err(error) => {
                notes.push((Severity::Error, format!("nothing will be saved: {error}")));
                None
            }
        }
    }

    fn notify_as(&self, key: u64) -> Notify {
        let tell = Arc::clone(&self.notify);
        Box::new(move |status| {
            if status.state != SaveState::Closed {
                tell(saving(key, status));
            }
        })
    }

    /// Gives a session another name; returns the name.
    ///
    /// # Errors
    /// A name that is taken, or a session that another process has open.
    pub fn rename(&self, name: &str, wanted: &str) -> Result<String, String> {
        self.store().rename(name, wanted).map_err(|error| error.to_string())
    }

    /// Opens a saved session with all its data.
    ///
    /// # Errors
    /// All problems.
    pub fn session(&self, name: &str) -> Result<Bundle, Refused> {
        let one = |error: lightbay_sessions::SessionError| vec![error.to_string()];
        let session = self.store().open(name, &self.clock.date()).map_err(one)?;
        let mut notes: Vec<(Severity, String)> =
            session.remarks().iter().map(|remark| (Severity::Warning, remark.clone())).collect();
        let (value, remark) = session.read_scenario().map_err(one)?;
        notes.extend(remark.map(|remark| (Severity::Warning, remark)));
        let scenario = AnyScenario::from_value(&value).map_err(|problems| lines(&problems))?;
        let replay = session.replay(ReplayLimits::default()).map_err(one)?;
        if replay.cut_off {
            notes.push((
                Severity::Info,
                "the last line of the run log was cut off and is left out".to_owned(),
            ));
        }
        if replay.broken > 0 {
            notes.push((Severity::Warning, format!("{} lines of the run log cannot be read", replay.broken)));
        }
        let book = Arc::new(session.book(&replay));
        let next_run = RunId(session.next_run(&replay));
        let file = session.file().clone();
        let kind = lightbay_engines::kind(scenario.kind());
        let sense = kind.map_or(Sense::Min, |kind| kind.objective.sense);
        let seen = session.plan_stamps().unwrap_or_default();
        let now = scenario.sha256().unwrap_or_default();
        let solved = solved_sha256(&file, &replay);
        let present: Vec<&str> = solved.iter().map(String::as_str).chain([now.as_str()]).collect();
        let plans = saved_plans(&session, &replay, &file, sense, &present, &mut notes)?;
        let remembered = remembered(&scenario, &file, &replay, &plans);
        let key = self.next_desk();
        let beside = session.read_only().map(str::to_owned);
        let writer = match &beside {
            None => self.writer(&session, &book, key, &mut notes),
            Some(_) => self.begin_later(name, &scenario, &book, key, &mut notes),
        };
        let fresh = beside.is_some();
        let looked_at = fresh.then(|| Arc::new(session));
        let following = looked_at.as_ref().and_then(|session| Following::of(session, &replay, seen, key));
        let events = replay
            .records
            .into_iter()
            .map(|record| Heard::new(record.record.event(), record.plan.map(|plan| plan.0)))
            .collect();
        let opened = Opened {
            source: format!("session:{name}"),
            scenario,
            plans,
            events,
            remembered,
            session: SessionView {
                key,
                followed: beside.as_ref().map_or_else(String::new, |_| name.to_owned()),
                beside,
                elsewhere: following.as_ref().map(Following::at_work),
                ..SessionView::default()
            },
            notes,
            solve: None,
        };
        Ok(Bundle { opened, book, next_run, file, looked_at, following, writer, fresh })
    }

    /// Opens a saved session, and shows one of its plans, given by number or by name.
    ///
    /// # Errors
    /// All problems; an unknown plan.
    fn session_at(&self, name: &str, plan: &str) -> Result<Bundle, Refused> {
        let mut bundle = self.session(name)?;
        let opened = &mut bundle.opened;
        let labels =
            opened.remembered.as_ref().map(|remembered| remembered.labels.clone()).unwrap_or_default();
        let known = |number: &u64| opened.plans.iter().any(|entry| entry.number == *number);
        let named = labels.iter().find(|(number, label)| label.name == plan && known(number));
        let number = named.map(|(number, _)| *number).or_else(|| plan.parse().ok().filter(known));
        let Some(number) = number else {
            let plans: Vec<String> = opened
                .plans
                .iter()
                .map(|entry| match labels.get(&entry.number).filter(|label| !label.name.is_empty()) {
                    Some(label) => format!("{} ({})", entry.number, label.name),
                    None => entry.number.to_string(),
                })
                .collect();
            let remedy = if plans.is_empty() {
                "the session has no plan yet".to_owned()
            } else {
                format!("its plans are {}", plans.join(", "))
            };
            return Err(vec![format!("session '{name}' has no plan '{plan}'; {remedy}")]);
        };
        if let Some(remembered) = &mut opened.remembered {
            remembered.shown = Some(number);
        }
        Ok(bundle)
    }

    /// Returns the saved sessions for the start screen.
    pub fn recent(&self) -> Vec<Recent> {
        let now = self.clock.date();
        let store = self.store();
        let sessions = store.list().unwrap_or_default();
        let standing = |entry: &RecentEntry| {
            let number = entry.plan.as_ref()?.plan;
            let header = store.plans(&entry.session).ok()?.into_iter().find(|own| own.plan == number)?.header;
            let session = sessions.iter().find(|own| own.name == entry.session)?;
            saved_standing(&header.ok()?, session.file.findings.get(&number.0.to_string()))
        };
        let entries = resume::recent(&self.places.recent());
        let known = entries.into_iter().filter(|entry| store.has(&entry.session));
        known
            .map(|entry| (standing(&entry), entry))
            .map(|(standing, entry)| Recent {
                name: entry.session,
                kind: entry.kind,
                method: entry.plan.as_ref().map_or_else(String::new, |plan| plan.method.clone()),
                objective: entry
                    .plan
                    .as_ref()
                    .map(|plan| (plan.objective.name.clone(), plan.objective.value)),
                gap: standing.as_ref().and_then(|standing| Some(standing.leading()?.gap)),
                verified: standing
                    .as_ref()
                    .and_then(Standing::leading)
                    .is_some_and(|bound| bound.is_verified() && bound.is_on_all),
                status: entry
                    .plan
                    .as_ref()
                    .map_or_else(|| "no plan".to_owned(), |plan| plan.status.word().to_owned()),
                metrics: entry.plan.map_or_else(BTreeMap::new, |plan| plan.metrics),
                age: age(&entry.at, &now),
            })
            .collect()
    }
}

fn no_thread(error: &std::io::Error) -> (Severity, String) {
    (Severity::Error, format!("nothing will be saved because no writer thread could start: {error}"))
}

/// Returns the state of saving, for the screen.
pub fn saving(key: u64, status: &SaveStatus) -> Saving {
    Saving {
        key,
        name: status.place.name(),
        failing: match &status.state {
            SaveState::Failing { message, .. } => Some(message.clone()),
            SaveState::Saving | SaveState::Closed => None,
        },
        made_again: status.place.made_again,
        list_problem: status.list_problem.clone(),
    }
}

/// Names of the entries in `session.toml` that the app shell writes.
mod key {
    pub const SOURCE: &str = "source";
    pub const SEED: &str = "seed";
    pub const TIME_LIMIT_S: &str = "time_limit_s";
    pub const GAP: &str = "gap";
    pub const PANE: &str = "pane";
    pub const SOLVED: &str = "solved_sha256";
    pub const CHOSEN: &str = "shown";
    pub const SWEEPS: &str = "sweeps";
    pub const LABELS: &str = "plan_labels";
    pub const STARTED_FROM: &str = "started_from";
}

/// Returns the new content of `session.toml`, with the remembered state of the screen.
pub fn session_file(before: &SessionFile, remembered: &Remembered) -> SessionFile {
    let Remembered { source, now, solved, marked, baseline, shown, pane, best, findings, .. } = remembered;
    let Remembered { sweeps, labels, started_from, .. } = remembered;
    let mut file = before.clone();
    now.scenario.name().clone_into(&mut file.scenario);
    file.method = Some(now.method.clone());
    file.last_plan = shown.or_else(|| best.as_ref().map(|(number, _)| *number)).map(PlanId);
    file.baseline = baseline.map(PlanId);
    file.marks = marked.iter().map(|number| PlanId(*number)).collect();
    file.changed = changed(now, solved.as_ref());
    file.findings = findings.iter().map(|(number, found)| (number.to_string(), found.clone())).collect();
    file.parameters = now
        .params
        .iter()
        .map(|(method, given)| {
            let mut params = lightbay_core::param::Params::default();
            for (name, value) in given {
                params.set(name.clone(), value.clone());
            }
            (method.clone(), params)
        })
        .collect();
    let shell = &mut file.shell;
    shell.insert(key::SOURCE.to_owned(), source.clone().into());
    shell.insert(key::SEED.to_owned(), (now.common.seed as i64).into());
    shell.insert(key::PANE.to_owned(), i64::from(*pane).into());
    let mut put = |name: &str, value: Option<toml::Value>| match value {
        Some(value) => drop(shell.insert(name.to_owned(), value)),
        None => drop(shell.remove(name)),
    };
    put(key::TIME_LIMIT_S, now.common.time_limit_s.map(Into::into));
    put(key::GAP, now.common.gap.map(Into::into));
    put(key::SOLVED, solved.as_ref().map(|solved| solved.sha256.clone().into()));
    put(key::CHOSEN, shown.map(|number| (number as i64).into()));
    // JSON, because TOML has no value for a missing figure.
    let text = serde_json::to_string(sweeps).ok().filter(|_| !sweeps.is_empty());
    put(key::SWEEPS, text.map(Into::into));
    let text = serde_json::to_string(labels).ok().filter(|_| !labels.is_empty());
    put(key::LABELS, text.map(Into::into));
    let text = serde_json::to_string(started_from).ok().filter(|_| !started_from.is_empty());
    put(key::STARTED_FROM, text.map(Into::into));
    file
}

/// Returns the scenario knobs changed since the newest solve, with their present values.
fn changed(now: &Setup, solved: Option<&Setup>) -> BTreeMap<String, ParamValue> {
    let Some(solved) = solved else { return BTreeMap::new() };
    let knobs = now.scenario.knobs();
    let value = |info: &lightbay_core::param::ParamInfo| {
        let value = now.scenario.knob(&info.name)?;
        (solved.scenario.knob(&info.name).as_ref() != Some(&value)).then(|| (info.name.to_string(), value))
    };
    knobs.iter().filter_map(value).collect()
}

/// Returns the hash of the scenario of the newest solve.
fn solved_sha256(file: &SessionFile, replay: &Replay) -> Option<String> {
    let saved = file.shell.get(key::SOLVED).and_then(toml::Value::as_str).map(str::to_owned);
    let last = || replay.runs.values().next_back().and_then(|run| run.started.as_ref());
    saved.or_else(|| last().map(|started| started.scenario_sha256.clone()))
}

/// Restores the saved setup, and the scenario of the newest solve. Only the hash of this scenario is saved, so the
/// scenario is found by its hash: the present scenario or the scenario of a saved plan.
fn remembered(
    scenario: &AnyScenario,
    file: &SessionFile,
    replay: &Replay,
    plans: &[PlanEntry],
) -> Option<Box<Remembered>> {
    let kind = lightbay_engines::kind(scenario.kind())?;
    let known = |name: &&String| lightbay_engines::method(kind.name, name).is_some();
    let method = file.method.as_ref().filter(known).map_or_else(|| scenario.suited_method(), String::as_str);
    let mut now = Setup::new(scenario.clone(), method).ok()?;
    for (method, params) in &file.parameters {
        let given = params.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
        now.params.insert(method.clone(), given);
    }
    let shell = &file.shell;
    let number =
        |name: &str| shell.get(name).and_then(toml::Value::as_integer).and_then(|n| u64::try_from(n).ok());
    now.common.seed = number(key::SEED).unwrap_or(1);
    now.common.time_limit_s = shell.get(key::TIME_LIMIT_S).and_then(toml::Value::as_float);
    now.common.gap = shell.get(key::GAP).and_then(toml::Value::as_float);
    let solved = solved_sha256(file, replay).and_then(|sha256| {
        let solved = if sha256 == now.sha256 {
            now.scenario.clone()
        } else {
            plans
                .iter()
                .find(|row| row.scenario_sha256 == sha256 && row.plan.is_some())?
                .plan
                .as_ref()?
                .0
                .scenario()
        };
        Some(Setup { scenario: solved, sha256, ..now.clone() })
    });
    let json = |name: &str| shell.get(name).and_then(toml::Value::as_str);
    let source = json(key::SOURCE).unwrap_or(&file.scenario).to_owned();
    Some(Box::new(Remembered {
        source_scenario: read_source(&source, scenario.kind()),
        source,
        now,
        solved,
        marked: file.marks.iter().map(|plan| plan.0).collect(),
        baseline: file.baseline.map(|plan| plan.0),
        shown: number(key::CHOSEN),
        pane: number(key::PANE).and_then(|pane| u8::try_from(pane).ok()).unwrap_or(1),
        best: None,
        findings: BTreeMap::new(),
        sweeps: json(key::SWEEPS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
        labels: json(key::LABELS).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
        started_from: json(key::STARTED_FROM)
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default(),
    }))
}

/// Reads the scenario in the file from which a session was started.
fn read_source(source: &str, kind: &str) -> SourceScenario {
    if !is_file(source) {
        return SourceScenario::Opened;
    }
    // A pipe could wait for ever.
    if !std::path::Path::new(source).is_file() {
        return SourceScenario::Lost("does not exist in this folder".to_owned());
    }
    let read = match std::fs::File::open(source) {
        Ok(file) => lightbay_engines::read_file(file, source).ok(),
        Err(error) => return SourceScenario::Lost(format!("cannot be read: {error}")),
    };
    let scenario = match read {
        Some(AnyFile::Scenario(scenario)) => Some(scenario),
        Some(AnyFile::Plan(plan)) => plan.scenario(),
        None => None,
    };
    match scenario.filter(|scenario| scenario.kind() == kind) {
        Some(scenario) => SourceScenario::Read(scenario),
        None => SourceScenario::Lost(format!("no longer contains a scenario of kind {kind}")),
    }
}

/// Returns the difference of two dates as text, such as `10 h ago`; empty if one of the dates cannot be read.
fn age(then: &str, now: &str) -> String {
    let (Ok(then), Ok(now)) = (then.parse::<jiff::Timestamp>(), now.parse::<jiff::Timestamp>()) else {
        return String::new();
    };
    let seconds = now.as_second().saturating_sub(then.as_second());
    match seconds {
        i64::MIN..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_words() {
        let now = "2026-08-01T12:00:00Z";
        assert_eq!(age("2026-08-01T11:59:30Z", now), "just now");
        assert_eq!(age("2026-08-01T11:58:00Z", now), "2 min ago");
        assert_eq!(age("2026-08-01T02:00:00Z", now), "10 h ago");
        assert_eq!(age("2026-07-20T12:00:00Z", now), "12 days ago");
        assert_eq!(age("never", now), "");
    }
}
