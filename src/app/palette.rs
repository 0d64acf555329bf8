//! The palette: every action by name with its argument, found by fuzzy matching.

use crate::app::action::Command;
use crate::app::arguments::Offered;
use crate::app::keymap::ActionIndex;
use crate::app::layer::LayerKind;
use crate::app::possible::Possible;
use crate::app::state::App;
use crate::app::table::{self, ActionInfo, Make, TablePlace};
use lightbay_core::problem::counted;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// A line of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Index of the action.
    pub action: ActionIndex,
    /// Text of the line: the name, or name and value.
    pub text: String,
    /// Effect of the action, in one line.
    pub help: String,
    /// Keys of the action.
    pub keys: String,
    /// Whether the action is possible now, with the reason if it is not possible.
    pub possible: Possible,
    /// Positions in `text` that matched, counted in characters.
    pub matches: Vec<u32>,
    /// `true` if the line is a complete command; otherwise, choosing the line types its text into the field.
    pub complete: bool,
}

/// Result of choosing a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// Execute this command.
    Run(Command),
    /// Type this text into the field and wait for more input.
    Type(String),
    /// Show this reason, because the action is not possible.
    Refuse(String),
}

/// Returns the action and the argument of a typed text, if the first word names an action with an argument.
fn with_argument(query: &str) -> Option<(ActionIndex, &'static ActionInfo, &str)> {
    let (name, rest) = query.trim_start().split_once(char::is_whitespace)?;
    let index = table::all().iter().position(|info| info.name == name)?;
    let info = &table::all()[index];
    matches!(info.make, Make::With(_)).then_some((index, info, rest.trim_start()))
}

/// Maximum length of a query in bytes, because the time of a match grows with every word.
const LONGEST_QUERY: usize = 256;

/// Scores texts against a query; returns those that match, best first, with the positions of the match. A query of more
/// than [`LONGEST_QUERY`] bytes matches nothing.
fn matching<T>(query: &str, items: Vec<T>, text: impl Fn(&T) -> String) -> Vec<(T, Vec<u32>)> {
    if query.len() > LONGEST_QUERY {
        return Vec::new();
    }
    let pattern = Pattern::parse(query.trim(), CaseMatching::Ignore, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut buffer = Vec::new();
    let mut found: Vec<(u32, T, Vec<u32>)> = Vec::new();
    for item in items {
        let text = text(&item);
        let mut places = Vec::new();
        if let Some(score) = pattern.indices(Utf32Str::new(&text, &mut buffer), &mut matcher, &mut places) {
            places.sort_unstable();
            places.dedup();
            found.push((score, item, places));
        }
    }
    // The sort is stable: equal scores stay in the order of the table.
    found.sort_by_key(|(score, _, _)| std::cmp::Reverse(*score));
    found.into_iter().map(|(_, item, places)| (item, places)).collect()
}

/// Returns the lines for the typed text.
pub fn lines(app: &App, query: &str) -> Vec<Line> {
    if let Some((action, info, argument)) = with_argument(query) {
        return values(app, action, info, argument);
    }
    // Names are written with underscores, and typed with blanks or underscores.
    let spaced = query.replace('_', " ");
    let usable = |info: &ActionInfo| match info.place {
        TablePlace::Layers(_) => false,
        TablePlace::Workbench => app.work.is_some(),
        TablePlace::Anywhere => true,
    };
    let items: Vec<(ActionIndex, &ActionInfo)> =
        table::all().iter().enumerate().filter(|(_, info)| usable(info)).collect();
    // Matches in names come first, then matches in descriptions.
    let names = matching(&spaced, items.clone(), |(_, info)| info.name.replace('_', " "));
    let rest: Vec<_> =
        items.into_iter().filter(|(index, _)| names.iter().all(|((other, _), _)| other != index)).collect();
    // Descriptions are long, so nearly every query would match the letters of one.
    let needle = spaced.trim().to_lowercase();
    let described: Vec<_> = rest
        .into_iter()
        .filter(|(_, info)| !needle.is_empty() && info.help.to_lowercase().contains(&needle))
        .collect();
    let line = |(action, info): (ActionIndex, &ActionInfo), matches| {
        let (text, complete) = match &info.make {
            Make::Plain(_) => (info.name.to_owned(), true),
            Make::With(argument) => (format!("{} {}", info.name, argument.name), false),
        };
        Line {
            action,
            text,
            help: info.help.to_owned(),
            keys: app.keymap.listed(action),
            possible: (info.possible)(app),
            matches,
            complete,
        }
    };
    names
        .into_iter()
        .map(|(item, matches)| line(item, matches))
        .chain(OFFERED.iter().flat_map(|action| offered(app, query, action)))
        .chain(described.into_iter().map(|item| line(item, Vec::new())))
        .collect()
}

/// Actions whose values are found without typing the name of the action.
const OFFERED: [&str; 6] = ["pane", "set", "show_plan", "new", "explain", "open"];

/// Returns lines for the values of an action whose names match: `slack` offers `pane Slack`, `bandwidth` offers
/// `set bandwidth_gbps=`, and `plan 2` offers `show_plan 2`.
fn offered(app: &App, query: &str, action: &str) -> Vec<Line> {
    /// Minimum number of letters for a search in names.
    const LEAST: usize = 3;
    /// Maximum number of values, so that one action does not hide the others.
    const MOST: usize = 12;
    let found = table::all().iter().enumerate().find(|(_, info)| info.name == action);
    let usable = |info: &ActionInfo| info.place == TablePlace::Anywhere || app.work.is_some();
    let Some((index, info)) = found.filter(|(_, info)| query.trim().len() >= LEAST && usable(info)) else {
        return Vec::new();
    };
    let Make::With(make) = &info.make else { return Vec::new() };
    let prefix = action.len() as u32 + 1;
    // Compares words exactly, because fuzzy matching would find every query in some name.
    let needle = query.trim().to_lowercase();
    let searched = |offered: &Offered| match action {
        "show_plan" => format!("plan {}", searched(action, offered)),
        // Presets are named with this prefix on the command line.
        "new" if needle.starts_with("preset:") => format!("preset:{}", offered.value),
        _ => searched(action, offered),
    };
    let named = |offered: &Offered| searched(offered).to_lowercase().contains(&needle);
    let values: Vec<_> = (make.offered)(app).into_iter().filter(named).take(MOST).collect();
    let line = |(offered, matches): (Offered, Vec<u32>)| Line {
        action: index,
        text: format!("{action} {}", offered.value),
        help: offered.help,
        keys: String::new(),
        possible: (info.possible)(app),
        matches: matches.into_iter().map(|place| place + prefix).collect(),
        complete: !offered.value.ends_with(['=', ' ', '/']),
    };
    let in_value = action != "show_plan" && !needle.starts_with("preset:");
    let places = move |matches: Vec<u32>| if in_value { matches } else { Vec::new() };
    matching(query, values, searched)
        .into_iter()
        .map(|(offered, matches)| line((offered, places(matches))))
        .collect()
}

/// Returns the text in which values are searched: for plans, the number with method, name and note.
fn searched(action: &str, offered: &Offered) -> String {
    match action {
        "show_plan" => format!("{} {}", offered.value, offered.help),
        _ => offered.value.clone(),
    }
}

fn values(app: &App, action: ActionIndex, info: &ActionInfo, argument: &str) -> Vec<Line> {
    let Make::With(make) = &info.make else { return Vec::new() };
    let possible = (info.possible)(app);
    // A folder is complete only as a folder to save in; elsewhere, its files follow.
    let is_folder = info.name == "save_to";
    let prefix = info.name.chars().count() as u32 + 1;
    let line = |value: &str, help: String, matches: Vec<u32>| Line {
        action,
        text: format!("{} {value}", info.name),
        help,
        keys: String::new(),
        possible: possible.clone(),
        matches: matches.into_iter().map(|place| place + prefix).collect(),
        complete: !value.ends_with(['=', ' ', '/']) || is_folder,
    };
    let offered = (make.offered)(app);
    // Of several assignments, only the last one is matched and completed.
    let blank = argument.rfind(' ').filter(|_| info.name == "set");
    let (before, last) = blank.map_or(("", argument), |blank| argument.split_at(blank + 1));
    let exact = offered.iter().any(|offered| offered.value == last);
    let length = |offered: &Offered| offered.value.chars().count() as u32;
    let shift = before.chars().count() as u32;
    let mut lines: Vec<Line> = matching(last, offered, |offered| searched(info.name, offered))
        .into_iter()
        .map(|(offered, matches)| {
            let matches = matches.into_iter().filter(|place| *place < length(&offered));
            let matches = matches.map(|place| place + shift).collect();
            line(&format!("{before}{}", offered.value), offered.help, matches)
        })
        .collect();
    // A folder that is typed without the slash is that folder.
    let folder = format!("{} {argument}/", info.name);
    if let Some(at) = lines.iter().position(|line| line.text == folder) {
        lines[..=at].rotate_right(1);
        return lines;
    }
    // The typed text is a choice too, unless it is the beginning of an offered value.
    let own = argument.contains(['=', ' ', '/', '.', '[']) || lines.is_empty();
    if argument.ends_with('/') && !is_folder && !lines.is_empty() {
        let count = counted(lines.len() as u64, "entry", "entries");
        let folder = line(argument, format!("folder with {count}; choose one below"), Vec::new());
        // A folder may hold the tables of a sweep, which open as one.
        lines.insert(0, Line { complete: info.name == "open", ..folder });
    } else if !argument.is_empty() && own && !exact {
        lines.insert(0, line(argument, info.help.to_owned(), Vec::new()));
    }
    // Without offered values, shows what the user must type.
    if lines.is_empty() {
        let what = (make.command)("").err().unwrap_or_else(|| info.help.to_owned());
        lines.push(Line { complete: false, ..line(make.name, what, Vec::new()) });
    }
    lines
}

/// Returns the result of choosing a line; if there are no lines, returns a refusal.
pub fn choose(query: &str, line: Option<&Line>) -> Chosen {
    let Some(line) = line else {
        return Chosen::Refuse(format!(
            "no action is called '{}'; clear the line to see all actions",
            query.trim()
        ));
    };
    if let Possible::No(why) = line.possible {
        return Chosen::Refuse(why.to_owned());
    }
    let info = &table::all()[line.action];
    match &info.make {
        Make::Plain(command) => Chosen::Run(command.clone()),
        Make::With(argument) => {
            let given = line.text.get(info.name.len() + 1..).unwrap_or_default();
            if with_argument(query).is_none() && !line.complete {
                let begun =
                    if given == argument.name { format!("{} ", info.name) } else { line.text.clone() };
                return Chosen::Type(begun);
            }
            if !line.complete {
                return match (argument.command)("") {
                    Err(what) if given == argument.name => Chosen::Refuse(what),
                    _ => Chosen::Type(line.text.clone()),
                };
            }
            match (argument.command)(given.trim()) {
                Ok(command) => Chosen::Run(command),
                Err(problem) => Chosen::Refuse(problem),
            }
        }
    }
}

/// Returns the lines of the help for the place that `layer` names (the panes if `None`) that match `filter`.
pub fn help(app: &App, filter: &str) -> Vec<Line> {
    let below = app.layers.iter().rev().map(super::layer::Layer::kind).find(|kind| *kind != LayerKind::Help);
    let here = |info: &ActionInfo| match (info.place, below) {
        (TablePlace::Layers(kinds), Some(kind)) => kinds.contains(&kind),
        (TablePlace::Layers(_), None) => true,
        (TablePlace::Workbench, None) => app.work.is_some(),
        (TablePlace::Anywhere, None) => true,
        (_, Some(kind)) => kind.is_transparent(),
    };
    let items: Vec<(ActionIndex, &ActionInfo)> =
        table::all().iter().enumerate().filter(|(_, info)| here(info)).collect();
    let needle = filter.trim().to_lowercase().replace('_', " ");
    items
        .into_iter()
        .filter(|(action, info)| {
            let text =
                format!("{} {} {}", app.keymap.listed(*action), info.name.replace('_', " "), info.help)
                    .to_lowercase();
            needle.split_whitespace().all(|word| text.contains(word))
        })
        .map(|(action, info)| Line {
            action,
            text: info.name.to_owned(),
            help: info.help.to_owned(),
            keys: app.keymap.listed(action),
            possible: match (info.place, below) {
                (TablePlace::Layers(_), None) => Possible::No("this key works in pop-ups"),
                _ => (info.possible)(app),
            },
            matches: Vec::new(),
            complete: true,
        })
        .collect()
}
