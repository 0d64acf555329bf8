//! Completion of names that the program knows: presets, methods, parameters with their values, formats, sections, sessions,
//! terms. The shell calls the program for every completion, so that the candidates are those of this version and this user.

use super::documents;
use super::grammar::Grammar;
use clap::CommandFactory as _;
use clap::builder::StyledStr;
use clap_complete::CompleteEnv;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter as _};
use lightbay_core::param::{Domain, ParamInfo};
use lightbay_core::run::common_params;
use lightbay_engines::{SchemaOf, exporters, glossary, importers, kinds, knobs, methods, presets, sections};
use lightbay_sessions::{Overrides, Places, Store};
use std::collections::BTreeSet;
use std::ffi::OsStr;

/// Environment variable with which the script of a shell asks for candidates.
pub const VARIABLE: &str = "LIGHTBAY_COMPLETE";

/// Prints candidates and ends the program if the script of a shell asks for them.
pub fn answer_if_asked() {
    CompleteEnv::with_factory(Grammar::command).var(VARIABLE).bin("lightbay").complete();
}

fn candidate(value: impl Into<String>, help: &str) -> CompletionCandidate {
    let help = (!help.is_empty()).then(|| StyledStr::from(help.to_owned()));
    CompletionCandidate::new(value.into()).help(help)
}

/// Returns the candidates that begin with the typed text.
fn starting(current: &OsStr, all: impl IntoIterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let fitting = all.into_iter().filter(|(value, _)| value.starts_with(&*typed));
    fitting.map(|(value, help)| candidate(value, &help)).collect()
}

fn store() -> Option<Store> {
    let places = Places::resolve(&Overrides::default(), |name| std::env::var_os(name)).ok()?;
    Some(Store::at(places.sessions()))
}

/// Completes a scenario or plan: `preset:NAME`, `session:NAME`, or a file.
pub fn source(current: &OsStr) -> Vec<CompletionCandidate> {
    let own = presets().into_iter().map(|preset| (format!("preset:{}", preset.name), preset.help.to_owned()));
    let typed = current.to_string_lossy();
    let opened = typed.strip_prefix("session:").and_then(|rest| rest.split_once('/'));
    let saved = match (store(), opened) {
        (Some(store), Some((name, _))) => plans(&store, name),
        (Some(store), None) => {
            let names = store.names().unwrap_or_default().into_iter();
            names.map(|name| (format!("session:{name}"), "saved session".to_owned())).collect()
        }
        (None, _) => Vec::new(),
    };
    let mut all = starting(current, own.chain(saved));
    all.extend(PathCompleter::file().complete(current));
    all
}

/// Returns the plans of a session as `session:NAME/NUMBER`, each with its method.
fn plans(store: &Store, name: &str) -> Vec<(String, String)> {
    let plans = store.plans(name).unwrap_or_default().into_iter();
    plans
        .map(|entry| {
            let method = entry.header.map_or_else(|_| "cannot be read".to_owned(), |header| header.method);
            (format!("session:{name}/{}", entry.plan), method)
        })
        .collect()
}

/// Completes a preset or kind for `lightbay new`.
pub fn preset_or_kind(current: &OsStr) -> Vec<CompletionCandidate> {
    let kinds = kinds().into_iter().map(|kind| (kind.name.to_owned(), kind.help.to_owned()));
    let presets = presets().into_iter().map(|preset| (preset.name.to_owned(), preset.help.to_owned()));
    starting(current, kinds.chain(presets))
}

/// Completes the name of a kind.
pub fn kind(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, kinds().into_iter().map(|kind| (kind.name.to_owned(), kind.help.to_owned())))
}

/// Completes the name of a method of any kind.
pub fn method(current: &OsStr) -> Vec<CompletionCandidate> {
    let of = |kind: &'static str| {
        methods(kind)
            .into_iter()
            .map(move |method| (method.name.to_owned(), format!("{kind}: {}", method.help)))
    };
    let mut seen = BTreeSet::new();
    let all =
        kinds().into_iter().flat_map(|kind| of(kind.name)).filter(|(name, _)| seen.insert(name.clone()));
    starting(current, all)
}

/// Completes `NAME=`, and after it the values of a parameter that has names for them.
pub fn setting(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut infos: Vec<ParamInfo> = kinds().iter().flat_map(|kind| knobs(kind.name)).collect();
    infos.extend(kinds().iter().flat_map(|kind| methods(kind.name)).flat_map(|method| method.params));
    infos.extend(common_params());
    let mut seen = BTreeSet::new();
    infos.retain(|info| seen.insert(info.name.clone()));
    let typed = current.to_string_lossy();
    let Some((name, _)) = typed.split_once('=') else {
        return starting(
            current,
            infos.iter().map(|info| (format!("{}=", info.name), info.help.to_string())),
        );
    };
    let Some(info) = infos.iter().find(|info| info.name == name) else { return Vec::new() };
    let values: Vec<String> = match &info.domain {
        Domain::Bool => vec!["true".to_owned(), "false".to_owned()],
        Domain::Choice { names } => names.iter().map(ToString::to_string).collect(),
        _ => info.default.iter().map(ToString::to_string).collect(),
    };
    starting(current, values.into_iter().map(|value| (format!("{name}={value}"), String::new())))
}

/// Completes the name of an export format.
pub fn format(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut seen = BTreeSet::new();
    let all = kinds()
        .into_iter()
        .flat_map(|kind| exporters(kind.name))
        .map(|info| (info.name.to_owned(), info.help.to_owned()));
    starting(current, all.filter(|(name, _)| seen.insert(name.clone())))
}

/// Completes an import format, or a file.
pub fn import(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = importers().into_iter().map(|info| (info.name.to_owned(), info.help.to_owned()));
    let mut all = starting(current, all);
    all.extend(source(current));
    all
}

/// Completes the name of a section.
pub fn section(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut seen = BTreeSet::new();
    let all = kinds()
        .into_iter()
        .flat_map(|kind| sections(kind.name))
        .map(|info| (info.name.to_owned(), info.title.to_owned()));
    starting(current, all.filter(|(name, _)| seen.insert(name.clone())))
}

/// Completes the name of a session.
pub fn session(current: &OsStr) -> Vec<CompletionCandidate> {
    let sessions = store().and_then(|store| store.list().ok()).unwrap_or_default();
    starting(current, sessions.into_iter().map(|session| (session.name, session.file.scenario)))
}

/// Completes a term of the glossary.
pub fn term(current: &OsStr) -> Vec<CompletionCandidate> {
    starting(current, glossary::entries().into_iter().map(|entry| (entry.word, entry.sentence.to_owned())))
}

/// Completes the name of a schema.
pub fn schema(current: &OsStr) -> Vec<CompletionCandidate> {
    let files = SchemaOf::ALL.map(|which| which.file_name().trim_end_matches(".json"));
    let all = files.into_iter().chain([super::schema::CONFIG]).chain(documents::NAMES.iter().copied());
    starting(current, all.map(|name| (name.to_owned(), String::new())))
}
