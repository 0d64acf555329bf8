//! Opening, importing and writing files.

use crate::app::action::Command;
use crate::app::effect::{Effect, Effects, ExportJob, ExportSubject, Source};
use crate::app::layer::{CompareView, ExportEdit, Layer, TextField};
use crate::app::plans::PlanRef;
use crate::app::state::App;
use lightbay_core::event::Severity;
use lightbay_core::param::Setting;
use lightbay_core::problem::suggestion;
use lightbay_engines::ModelledMethod;
use lightbay_engines::formats::SubjectSort;
use lightbay_engines::models::is_model;
use lightbay_sessions::compare::CompareTable;
use std::path::{Path, PathBuf};

/// A format of the table of a comparison: name, which is also the ending of the file, description, and writer.
type TableFormat = (&'static str, &'static str, fn(&CompareTable) -> String);

/// Formats in which the table of a comparison is written.
pub const TABLE_FORMATS: [TableFormat; 4] = [
    ("md", "Markdown, for notes and issues", CompareTable::to_markdown),
    ("csv", "Comma-separated values, for spreadsheets", CompareTable::to_csv),
    ("tex", "LaTeX, two tables for a paper", CompareTable::to_latex),
    ("html", "HTML, a page for a browser", CompareTable::to_html),
];

/// Returns the default path of the table of a comparison: `compare-2-3-1.md`, the reference last.
fn table_path(view: &CompareView, format: &str) -> String {
    let against = view.shown().first().map(|pair| pair.against);
    let plans = view.shown().iter().map(|pair| pair.plan).chain(against);
    let plans: Vec<String> = plans.map(|number| number.to_string()).collect();
    format!("compare-{}.{format}", plans.join("-"))
}

impl App {
    /// Opens a file, `session:NAME` or `preset:NAME`.
    pub(super) fn open(&mut self, text: &str, effects: &mut Effects) {
        let text = text.trim();
        let source = match text.split_once(':') {
            Some(("session", name)) if name == self.session.name => {
                self.say(Severity::Info, format!("session '{name}' is open already"));
                return;
            }
            Some(("session", part))
                if let Some((name, plan)) = part.split_once('/')
                    && name == self.session.name =>
            {
                return self.show_plan_named(plan, effects);
            }
            Some(("session", name)) => Source::Session(name.to_owned()),
            Some(("preset", name)) => Source::Preset(name.to_owned()),
            _ => Source::File(self.path(text)),
        };
        if self.ask_first(Command::Open(text.to_owned())) {
            return;
        }
        self.start.opening = Some(text.to_owned());
        self.start.problems.clear();
        self.say(Severity::Info, format!("opening {text}"));
        effects.push(Effect::Open(source));
    }

    /// Shows the files of a folder that was to be opened.
    pub(super) fn list_folder(&mut self, path: &str) {
        self.start.end_opening();
        self.show_palette(&format!("open {}/", path.trim_end_matches('/')));
        if let Some(Layer::Palette(list)) = self.layers.last_mut() {
            "a folder; choose an entry with Down, or type more of its name"
                .clone_into(&mut list.field.problem);
        }
        self.touch();
    }

    /// Opens a preset.
    pub(super) fn new_from(&mut self, name: &str, effects: &mut Effects) {
        let name = name.trim();
        if self.start.presets.iter().all(|preset| preset.name != name) {
            let names: Vec<&str> = self.start.presets.iter().map(|preset| preset.name).collect();
            let remedy = suggestion(name, &names);
            self.say(Severity::Error, format!("preset '{name}' does not exist; {remedy}"));
            return;
        }
        self.open(&format!("preset:{name}"), effects);
    }

    /// Reads files of another tool: a format, files, and parameters of the format (`name=value`), separated by blanks.
    /// Without a format, the content of the files shows it.
    pub(super) fn import(&mut self, text: &str, effects: &mut Effects) {
        if self.ask_first(Command::Import(text.to_owned())) {
            return;
        }
        let known = lightbay_engines::importers();
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let format = words.first().copied().filter(|word| known.iter().any(|info| info.name == *word));
        let is_param = |name: &str| {
            let mut formats = known.iter().filter(|info| format.is_none_or(|format| info.name == format));
            formats.any(|info| info.params.iter().any(|param| param.name == name))
        };
        if format.is_some() {
            words.remove(0);
        } else if let [first, _, ..] = words.as_slice()
            && !first.contains(['.', '/', '=', ':'])
        {
            let names: Vec<&str> = known.iter().map(|info| info.name).collect();
            let remedy = suggestion(first, &names);
            self.say(Severity::Error, format!("import format '{first}' does not exist; {remedy}"));
            return;
        }
        let mut paths: Vec<PathBuf> = Vec::new();
        let mut settings: Vec<Setting> = Vec::new();
        for word in words {
            let setting = word.parse::<Setting>().ok().filter(|_| word.contains('=') && !word.contains('/'));
            match setting {
                // A word with `=` may also be the name of a file.
                Some(setting) if is_param(&setting.name) => settings.push(setting),
                Some(setting) if !word.contains('.') => {
                    let params = known.iter().filter(|info| format.is_none_or(|format| info.name == format));
                    let names: Vec<&str> =
                        params.flat_map(|info| &info.params).map(|param| param.name.as_ref()).collect();
                    let what =
                        format.map_or_else(|| "any format".to_owned(), |format| format!("format '{format}'"));
                    let remedy = suggestion(&setting.name, &names);
                    let text = format!("'{}' is not a parameter of {what}; {remedy}", setting.name);
                    return self.say(Severity::Error, text);
                }
                _ if word.starts_with("preset:") => paths.push(PathBuf::from(word)),
                _ => paths.push(self.path(word)),
            }
        }
        if paths.is_empty() {
            let format = format.unwrap_or("FORMAT");
            self.say(Severity::Error, format!("name the files after the format: import {format} FILE…"));
            return;
        }
        let what = format.map_or_else(String::new, |format| format!(" of {format}"));
        self.start.opening = Some(format!("{}{what}", files(paths.len())));
        self.say(Severity::Info, format!("reading {}{what}", files(paths.len())));
        effects.push(Effect::Import { format: format.map(str::to_owned), paths, settings });
    }

    /// Converts a typed text to a path; the text is relative to the folder in which the program was started, unless it
    /// begins with `/` or `~`.
    pub(crate) fn path(&self, text: &str) -> PathBuf {
        if text.starts_with('~') { PathBuf::from(text) } else { self.options.folder.join(text) }
    }

    /// Returns the formats in which the plan (or the scenario) can be written.
    fn formats(&self, plan: bool) -> Vec<&'static str> {
        let kind = self.work.as_ref().map_or("", |work| work.kind);
        lightbay_engines::exporters(kind)
            .iter()
            .filter(|format| match format.of {
                SubjectSort::Either => true,
                SubjectSort::Plan => plan,
                SubjectSort::Scenario => !plan,
            })
            .map(|format| format.name)
            .collect()
    }

    /// Asks where to write the selected plan, with defaults filled in. If a comparison is open, asks where to write its
    /// table.
    pub(super) fn write(&mut self, effects: &mut Effects) {
        if let Some(Layer::Compare(view)) = self.layers.last() {
            let table = view.clone();
            let formats: Vec<&'static str> = TABLE_FORMATS.iter().map(|(name, ..)| *name).collect();
            let path = TextField::holding(table_path(&table, formats[0]));
            let edit = ExportEdit { plan: None, table: Some(table), formats, format: 0, path, typed: false };
            self.layers.push(Layer::Export(edit));
            return;
        }
        let plan = self.meant_plan().map(|entry| entry.number);
        if let Some(number) = plan {
            self.load(number, effects);
        }
        if let Some(number) = self.plans.baseline {
            self.load(number, effects);
        }
        let formats = self.formats(plan.is_some());
        // The command applies to the content of the pane.
        let shown = self.drawn_pane(self.focus.pane).and_then(|drawn| drawn.format);
        let named = |wanted: &str| formats.iter().position(|name| *name == wanted);
        let section = self.pane_info(self.focus.pane).and_then(|info| info.section);
        let of_section = || section.and_then(|section| named(section.name));
        let format = shown.and_then(named).or_else(of_section).or_else(|| named("json")).unwrap_or(0);
        let path = self.usual_path(plan, formats.get(format).copied().unwrap_or("json"));
        let path = TextField::holding(path);
        let edit = ExportEdit { plan, table: None, formats, format, path, typed: false };
        self.layers.push(Layer::Export(edit));
    }

    /// Returns the default path of an export: `NAME-plan7.json`, for other formats `NAME-plan7.instance.json`, for
    /// models `NAME-plan7.METHOD.mps`, for a folder `NAME-plan7.polatis-tl1`.
    fn usual_path(&self, plan: Option<u64>, format: &str) -> String {
        let Some(work) = &self.work else { return String::new() };
        let known = lightbay_engines::exporters(work.kind);
        let info = known.iter().find(|info| info.name == format);
        let extension = info.map_or("json", |info| info.extension);
        let name = lightbay_sessions::store::sanitise(work.now.scenario.name());
        let number = plan.map_or_else(String::new, |number| format!("-plan{number}"));
        let method = is_model(format).then(|| self.model_method(plan)).flatten();
        let what = if let Some(method) = method {
            format!(".{}", method.name)
        } else if format == extension {
            String::new()
        } else {
            format!(".{format}")
        };
        // A folder is named after the format, without a file extension; the files in the folder have the extension.
        let ending = if info.is_some_and(|info| info.folder) { "" } else { extension };
        let dot = if ending.is_empty() { "" } else { "." };
        format!("{name}{number}{what}{dot}{ending}")
    }

    /// Updates a path that the user did not type, after a change of format.
    pub(super) fn refresh_export_path(&mut self) {
        let Some(Layer::Export(edit)) = self.layers.last() else { return };
        if edit.typed {
            return;
        }
        let format = edit.formats.get(edit.format).copied().unwrap_or("json");
        let path = match &edit.table {
            Some(table) => table_path(table, format),
            None => self.usual_path(edit.plan, format),
        };
        if let Some(Layer::Export(edit)) = self.layers.last_mut() {
            edit.path = TextField::holding(path);
        }
    }

    /// Writes the file as set in the pop-up.
    pub(super) fn accept_export(&mut self, effects: &mut Effects) {
        let Some(Layer::Export(edit)) = self.layers.last() else { return };
        let (plan, path) = (edit.plan, edit.path.text().trim().to_owned());
        let format = edit.formats.get(edit.format).copied().unwrap_or("json").to_owned();
        let job = match &edit.table {
            Some(table) => self.table_job(table, &format, &path),
            None => self.export_job(plan, &format, Path::new(&path)),
        };
        match job {
            Ok(job) => {
                self.layers.pop();
                effects.push(Effect::Export(job));
            }
            Err(problem) => {
                if let Some(Layer::Export(edit)) = self.layers.last_mut() {
                    edit.path.problem = problem;
                }
            }
        }
    }

    /// Writes the selected plan as typed in the palette: a format, optional parameters of the format (`what=dag`) and a
    /// path.
    pub(super) fn export(&mut self, text: &str, effects: &mut Effects) {
        let (format, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let (knobs, path) = self.knobs_of_format(format, rest);
        let plan = self.meant_plan().map(|entry| entry.number);
        let formats = self.formats(plan.is_some());
        if !formats.contains(&format) {
            let remedy = suggestion(format, &formats);
            self.say(Severity::Error, format!("'{format}' is not an export format here; {remedy}"));
            return;
        }
        let path = match path.trim() {
            "" => self.usual_path(plan, format),
            path => path.to_owned(),
        };
        match self.export_job(plan, format, Path::new(&path)) {
            Ok(mut job) => {
                job.settings.retain(|old| knobs.iter().all(|knob| knob.name != old.name));
                job.settings.extend(knobs);
                effects.push(Effect::Export(job));
            }
            Err(problem) => {
                for number in plan.into_iter().chain(self.plans.baseline) {
                    self.load(number, effects);
                }
                self.say(Severity::Error, problem);
            }
        }
    }

    /// Splits the text into leading words that set parameters of the format, and the path after them.
    fn knobs_of_format<'t>(&self, format: &str, text: &'t str) -> (Vec<Setting>, &'t str) {
        let kind = self.work.as_ref().map_or("", |work| work.kind);
        let formats = lightbay_engines::exporters(kind);
        let infos = formats.iter().find(|info| info.name == format).map_or(&[][..], |info| &info.params);
        let (mut knobs, mut rest) = (Vec::new(), text.trim_start());
        loop {
            let (word, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            // A word with `=` may also be the name of a file.
            let knob = word.parse::<Setting>().ok();
            let Some(knob) = knob.filter(|knob| infos.iter().any(|info| info.name == knob.name)) else {
                break;
            };
            knobs.push(knob);
            rest = tail.trim_start();
        }
        (knobs, rest)
    }

    /// Returns the method for a model export: the method of the plan, else the chosen method, else the first method
    /// that has a model.
    pub(crate) fn model_method(&self, plan: Option<u64>) -> Option<ModelledMethod> {
        let work = self.work.as_ref()?;
        let all = lightbay_engines::modelled(work.kind);
        let of_plan = plan.and_then(|number| self.plans.get(number)).map(|entry| entry.method.as_str());
        let named = |name: &str| all.iter().find(|one| one.name == name);
        of_plan.and_then(named).or_else(|| named(&work.now.method)).or(all.first()).cloned()
    }

    /// Returns the settings for the export of the model of this method. For the method of the plan itself, includes the
    /// parameters of the plan.
    fn model_settings(&self, plan: Option<u64>) -> Vec<Setting> {
        let (Some(method), Some(work)) = (self.model_method(plan), self.work.as_ref()) else {
            return Vec::new();
        };
        let setting = |name: &str, text: String| Setting { name: name.to_owned(), index: None, text };
        let mut settings = vec![setting("method", method.name.to_owned())];
        let own =
            plan.and_then(|number| self.plans.get(number)).is_some_and(|entry| entry.method == method.name);
        if !own && let Some(given) = work.now.params.get(method.name) {
            let shaping =
                given.iter().filter(|(name, _)| method.params.iter().any(|info| info.name == **name));
            settings.extend(shaping.map(|(name, value)| setting(name, value.to_string())));
        }
        settings
    }

    /// Returns the plan with which an export compares the exported plan: the baseline, if the format accepts a second
    /// subject and the exported plan is not the baseline.
    pub(crate) fn second_plan(&self, plan: Option<u64>, format: &str) -> Option<u64> {
        let number = self.plans.baseline.filter(|number| Some(*number) != plan)?;
        let formats = lightbay_engines::exporters(self.work.as_ref()?.kind);
        let second = formats.iter().find(|info| info.name == format)?.against?;
        (second.of != SubjectSort::Scenario && self.plans.get(number).is_some()).then_some(number)
    }

    /// Returns a plan of the present scenario under the present name of the scenario; the name may have changed since
    /// the solve.
    fn under_present_name(&self, plan: PlanRef) -> PlanRef {
        let header = plan.0.header();
        match &self.work {
            Some(work)
                if work.now.scenario.name() != header.name
                    && work.now.sha256 == header.provenance.scenario_sha256 =>
            {
                PlanRef(plan.0.renamed(work.now.scenario.name()))
            }
            _ => plan,
        }
    }

    /// Returns the file with the table of a comparison.
    fn table_job(&self, view: &CompareView, format: &str, path: &str) -> Result<ExportJob, String> {
        if path.is_empty() {
            return Err("type the name of a file".to_owned());
        }
        let table = self.comparison(view.shown());
        let table = table.ok_or_else(|| self.why_no_comparison(view.shown()))?;
        let table = if view.differing { table.only_differences() } else { table };
        let known = TABLE_FORMATS.iter().find(|(name, ..)| *name == format);
        let (.., write) = known.ok_or("choose a format")?;
        Ok(ExportJob {
            subject: ExportSubject::Text(write(&table)),
            against: None,
            format: format.to_owned(),
            settings: Vec::new(),
            path: self.path(path),
            overwrite: false,
        })
    }

    fn export_job(&self, plan: Option<u64>, format: &str, path: &Path) -> Result<ExportJob, String> {
        if path.as_os_str().is_empty() {
            return Err("type the name of a file".to_owned());
        }
        let subject = if let Some(number) = plan {
            let entry = self.plans.get(number).ok_or("the plan is not in the table any more")?;
            ExportSubject::Plan(self.under_present_name(entry.usable()?.clone()))
        } else {
            let work = self.work.as_ref().ok_or("nothing is open")?;
            ExportSubject::Scenario(work.now.scenario.clone())
        };
        let against = match self.second_plan(plan, format) {
            Some(number) => {
                let second = self.plans.get(number).ok_or("the baseline is not in the table any more")?;
                Some(second.usable()?.clone())
            }
            None => None,
        };
        let path = self.path(&path.to_string_lossy());
        let settings = if is_model(format) { self.model_settings(plan) } else { Vec::new() };
        Ok(ExportJob { subject, against, format: format.to_owned(), settings, path, overwrite: false })
    }
}

fn files(count: usize) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}
