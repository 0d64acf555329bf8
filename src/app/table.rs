//! The one table of actions. Keymap, help, footer, palette, manual and tests read it; no other code defines keys.

use crate::app::action::{Command, Motion};
use crate::app::arguments::{self, Argument};
use crate::app::layer::LayerKind;
use crate::app::pane::PaneId;
use crate::app::possible::{self, Possible};
use crate::app::state::App;
use std::sync::LazyLock;

mod pop_ups;

/// Place in which the keys of an action apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TablePlace {
    /// The keys apply in the workbench and on the start screen.
    Anywhere,
    /// The keys apply among the panes while a scenario is open.
    Workbench,
    /// The keys apply in these layers.
    Layers(&'static [LayerKind]),
}

/// Blocks of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each block is named by its content")]
pub enum TableGroup {
    Solve,
    Plans,
    Pane,
    Move,
    View,
    Files,
    Program,
    PopUp,
}

impl TableGroup {
    /// Returns the heading in the help.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Solve => "Solve and parameters",
            Self::Plans => "Plans",
            Self::Pane => "In a pane",
            Self::Move => "Move",
            Self::View => "Panes and screen",
            Self::Files => "Files and sessions",
            Self::Program => "Program",
            Self::PopUp => "In pop-ups",
        }
    }
}

/// How the command of an action is made.
#[derive(Clone, Debug)]
pub enum Make {
    /// The action always gives this command.
    Plain(Command),
    /// The command is made from an argument; the key opens the palette with the name of the action already typed.
    With(Argument),
}

/// An entry of the table.
#[derive(Clone, Debug)]
pub struct ActionInfo {
    /// Name in the palette and the configuration.
    pub name: &'static str,
    /// Effect of the action, in one line that starts with a verb.
    pub help: &'static str,
    /// Label for the footer: one or two words.
    pub label: &'static str,
    /// Default keys; sequences are separated by blanks.
    pub keys: &'static [&'static str],
    /// Place in which the action applies.
    pub place: TablePlace,
    /// Block of the help that lists the action.
    pub group: TableGroup,
    /// Importance for the footer: 0 is never shown, 9 comes first, 10 is never cut.
    pub weight: u8,
    /// Function that returns whether the action is possible now, and if not, the reason.
    pub possible: fn(&App) -> Possible,
    /// How the command of the action is made.
    pub make: Make,
}

impl ActionInfo {
    fn new(name: &'static str, keys: &'static [&'static str], command: Command, help: &'static str) -> Self {
        Self {
            name,
            help,
            label: "",
            keys,
            place: TablePlace::Anywhere,
            group: TableGroup::Program,
            weight: 0,
            possible: possible::always,
            make: Make::Plain(command),
        }
    }

    fn with(
        name: &'static str,
        keys: &'static [&'static str],
        argument: Argument,
        help: &'static str,
    ) -> Self {
        Self { make: Make::With(argument), ..Self::new(name, keys, Command::Palette, help) }
    }

    fn footer(mut self, weight: u8, label: &'static str) -> Self {
        self.weight = weight;
        self.label = label;
        self
    }

    fn when(mut self, possible: fn(&App) -> Possible) -> Self {
        self.possible = possible;
        self
    }

    /// Returns the layers in which the action applies; empty for an action that applies outside layers.
    pub const fn layers(&self) -> &'static [LayerKind] {
        match self.place {
            TablePlace::Layers(kinds) => kinds,
            _ => &[],
        }
    }
}

fn at(place: TablePlace, group: TableGroup, actions: Vec<ActionInfo>) -> Vec<ActionInfo> {
    actions.into_iter().map(|action| ActionInfo { place, group, ..action }).collect()
}

/// Returns all actions.
pub fn all() -> &'static [ActionInfo] {
    static TABLE: LazyLock<Vec<ActionInfo>> = LazyLock::new(|| {
        let mut table = solve();
        table.extend(plans());
        table.extend(pane());
        table.extend(moves());
        table.extend(view());
        table.extend(files());
        table.extend(program());
        table.extend(pop_ups::actions());
        table
    });
    &TABLE
}

/// Returns an action by name.
pub fn named(name: &str) -> Option<&'static ActionInfo> {
    all().iter().find(|action| action.name == name)
}

/// Returns the action of a command without argument, for labels and hints.
pub fn of(command: &Command) -> Option<&'static ActionInfo> {
    all().iter().find(|action| matches!(&action.make, Make::Plain(plain) if plain == command))
}

fn solve() -> Vec<ActionInfo> {
    use ActionInfo as A;
    let warm = Command::Solve { method: None, warm: true };
    let cold = Command::Solve { method: None, warm: false };
    at(
        TablePlace::Workbench,
        TableGroup::Solve,
        vec![
            A::new(
                "solve_warm",
                &["r"],
                warm,
                "solve with the current parameters, starting from the best plan",
            )
            .when(possible::open)
            .footer(9, "solve"),
            A::new("solve_cold", &["R"], cold, "solve from scratch").when(possible::open).footer(4, "cold"),
            A::with("solve", &["Space d"], arguments::METHOD, "also solve with the named method")
                .when(possible::open),
            A::with(
                "sweep",
                &["Space w"],
                arguments::SWEEP,
                "sweep one parameter and chart it, such as seq=2048,4096",
            )
            .when(possible::sweeps),
            A::new("stop_solve", &["x"], Command::Stop, "stop the solve and keep the best plan")
                .when(possible::busy)
                .footer(8, "stop"),
            A::new("pause_solve", &["p"], Command::TogglePause, "pause or resume the solve")
                .when(possible::busy)
                .footer(5, "pause"),
            A::new(
                "toggle_auto_solve",
                &["Space a"],
                Command::ToggleAuto,
                "turn automatic solving after every change on or off",
            )
            .when(possible::open),
            A::with(
                "set",
                &[],
                arguments::SETTING,
                "set parameters of scenario or method: set seq=4096 gap=0.01",
            )
            .when(possible::open),
            A::with("name", &[], arguments::NAME, "name the scenario, its further plans and exports")
                .when(possible::open),
            A::with("choose_method", &["Space m"], arguments::CHOICE, "choose the method of the next solve")
                .when(possible::open),
            A::new(
                "edit",
                &["e"],
                Command::Edit,
                "edit the selected parameter or cell; in other panes, go to the parameters",
            )
            .when(possible::open)
            .footer(7, "edit"),
            A::new("undo", &["u"], Command::Undo, "undo the last change of a parameter")
                .when(possible::undo)
                .footer(2, "undo"),
            A::new("redo", &["U"], Command::Redo, "redo the change that was undone").when(possible::redo),
        ],
    )
}

fn plans() -> Vec<ActionInfo> {
    use ActionInfo as A;
    at(
        TablePlace::Workbench,
        TableGroup::Plans,
        vec![
            A::new("mark_plan", &["m"], Command::Mark, "mark the plan for comparison, or unmark it")
                .when(possible::plan)
                .footer(5, "mark"),
            A::new(
                "set_baseline",
                &["B"],
                Command::Baseline,
                "set or clear the baseline plan for comparison",
            )
            .when(possible::plan)
            .footer(3, "baseline"),
            A::with("name_plan", &[], arguments::PLAN_NAME, "name the selected plan; - removes the name")
                .when(possible::plan),
            A::with(
                "note_plan",
                &[],
                arguments::NOTE,
                "attach a note to the selected plan; - removes the note",
            )
            .when(possible::plan),
            A::new(
                "compare_plans",
                &["c"],
                Command::Compare,
                "compare the marked plans, or the plan with the baseline",
            )
            .when(possible::two_plans)
            .footer(5, "compare"),
            A::new(
                "check_plan",
                &["V"],
                Command::Check { exact: false },
                "verify the plan with the independent checker",
            )
            .when(possible::plan)
            .footer(3, "check"),
            A::new(
                "check_exact",
                &["Space V"],
                Command::Check { exact: true },
                "verify the plan and repeat its proof; may take long",
            )
            .when(possible::plan),
            A::with("show_plan", &[], arguments::PLAN, "show a plan by its number or name")
                .when(possible::plan),
            A::new("follow_best", &["Space b"], Command::FollowBest, "always show the best plan")
                .when(possible::plan),
            A::new(
                "write",
                &["w"],
                Command::Write,
                "write the plan, or the scenario if there is none, to a file",
            )
            .when(possible::open)
            .footer(6, "write"),
            A::new(
                "copy_command",
                &["C"],
                Command::CopyCommand,
                "copy the command line that reproduces what is on the screen",
            )
            .when(possible::open)
            .footer(2, "copy command"),
            A::with(
                "export",
                &["Space e"],
                arguments::FORMAT,
                "write the plan in a format: markdown, svg, csv, json",
            )
            .when(possible::open),
        ],
    )
}

fn pane() -> Vec<ActionInfo> {
    use ActionInfo as A;
    at(
        TablePlace::Workbench,
        TableGroup::Pane,
        vec![
            A::new(
                "step_back",
                &["[", ","],
                Command::Step(-1),
                "step to the previous interval, link or snapshot",
            )
            .when(possible::steps)
            .footer(3, "back"),
            A::new(
                "step_forward",
                &["]", "."],
                Command::Step(1),
                "step to the next interval, link or snapshot",
            )
            .when(possible::steps)
            .footer(3, "forward"),
            A::new("play", &["Space Space"], Command::Play, "play the steps of the pane, or stop")
                .when(possible::steps),
            A::new("freeze", &["f"], Command::Freeze, "freeze the display or follow again; nothing is lost")
                .when(possible::open)
                .footer(2, "freeze"),
            A::new("axis_in", &["+"], Command::Axis(1), "stretch the axis")
                .when(possible::zooms)
                .footer(2, "stretch"),
            A::new("axis_out", &["-"], Command::Axis(-1), "shrink the axis").when(possible::zooms),
            A::new("axis_fit", &["="], Command::Axis(0), "fit the whole axis into the pane")
                .when(possible::zooms),
            A::new("fold", &["v"], Command::Fold, "fold, unfold or go to the next view of the pane")
                .when(possible::folds)
                .footer(3, "view"),
            A::new("toggle_overlay", &["o"], Command::Overlay, "mark possible intervals; chart makespan")
                .when(possible::overlays)
                .footer(2, "overlay"),
        ],
    )
    .into_iter()
    .chain(at(
        TablePlace::Anywhere,
        TableGroup::Pane,
        vec![
            A::new("inspect", &["Enter", "i"], Command::Inspect, "inspect or open what is selected")
                .when(possible::selected)
                .footer(4, "open"),
            A::new("copy", &["y"], Command::Copy, "copy the sentence about what is selected")
                .footer(3, "copy"),
            A::new("copy_pane", &["Y"], Command::CopyPane, "copy the pane as text"),
            A::new("copy_json", &["J"], Command::CopyJson, "copy what is selected as JSON"),
            A::new("search", &["/"], Command::Search, "search for a name in this pane").footer(3, "search"),
            A::new("find_next", &["n"], Command::Find(1), "go to the next match of the search"),
            A::new("find_previous", &["N"], Command::Find(-1), "go to the previous match of the search"),
        ],
    ))
    .collect()
}

fn moves() -> Vec<ActionInfo> {
    use ActionInfo as A;
    let go = |name, keys, go, help| A::new(name, keys, Command::Motion(go), help);
    at(
        TablePlace::Anywhere,
        TableGroup::Move,
        vec![
            go("move_left", &["h", "Left"], Motion::Left, "move left"),
            go("move_down", &["j", "Down"], Motion::Down, "move down"),
            go("move_up", &["k", "Up"], Motion::Up, "move up"),
            go("move_right", &["l", "Right"], Motion::Right, "move right"),
            go("go_first", &["g g", "Home"], Motion::First, "go to the first item"),
            go("go_last", &["G", "End"], Motion::Last, "go to the last item"),
            go("half_down", &["C-d"], Motion::HalfDown, "move half a page down"),
            go("half_up", &["C-u"], Motion::HalfUp, "move half a page up"),
            go("page_down", &["PgDn"], Motion::PageDown, "move a page down"),
            go("page_up", &["PgUp"], Motion::PageUp, "move a page up"),
        ],
    )
}

fn view() -> Vec<ActionInfo> {
    use ActionInfo as A;
    const PANES: [(&str, &str, &[&str]); 9] = [
        ("go_to_pane_1", "go to pane 1", &["1"]),
        ("go_to_pane_2", "go to pane 2", &["2"]),
        ("go_to_pane_3", "go to pane 3", &["3"]),
        ("go_to_pane_4", "go to pane 4", &["4"]),
        ("go_to_pane_5", "go to pane 5", &["5"]),
        ("go_to_pane_6", "go to pane 6", &["6"]),
        ("go_to_pane_7", "go to pane 7", &["7"]),
        ("go_to_pane_8", "go to pane 8", &["8"]),
        ("go_to_pane_9", "go to pane 9", &["9"]),
    ];
    let mut actions = vec![
        A::new("next_pane", &["Tab"], Command::Cycle(1), "go to the next pane").footer(4, "pane"),
        A::new("previous_pane", &["S-Tab"], Command::Cycle(-1), "go to the previous pane"),
        A::new("zoom", &["z"], Command::Zoom, "zoom the pane, again to restore").footer(5, "zoom"),
        A::new("pin", &["b"], Command::Pin, "pin the large pane, or let it follow the focus"),
        A::new(
            "narrower",
            &["<"],
            Command::Resize(-1),
            "make the side bar narrower, or move the slider of the pane down",
        ),
        A::new(
            "wider",
            &[">"],
            Command::Resize(1),
            "make the side bar wider, or move the slider of the pane up",
        ),
        A::new("reset_sizes", &["0"], Command::ResetSizes, "reset all sizes"),
        A::new("go_to_parameters", &["Space f"], Command::Focus(PaneId::Params), "go to the parameters"),
        A::new("go_to_plans", &["Space t"], Command::Focus(PaneId::Plans), "go to the table of plans"),
        A::new(
            "go_to_solve",
            &["Space x"],
            Command::Focus(PaneId::Solve),
            "go to the runs in the solve strip",
        ),
        A::new("list_panes", &["Space p"], Command::Panes, "list all panes"),
        A::with("pane", &[], arguments::PANE, "go to a pane by its name").when(possible::open),
        A::new("list_runs", &["Space r"], Command::Runs, "list all runs of the session"),
    ];
    for (number, (name, help, keys)) in (1..).zip(PANES) {
        actions.push(A::new(name, keys, Command::Focus(PaneId::Kind(number)), help));
    }
    let actions = actions.into_iter().map(|action| action.when(possible::open)).collect();
    at(TablePlace::Workbench, TableGroup::View, actions)
}

fn files() -> Vec<ActionInfo> {
    use ActionInfo as A;
    let mut actions = at(
        TablePlace::Anywhere,
        TableGroup::Files,
        vec![
            A::with("open", &["Space o"], arguments::FILE, "open a scenario, a plan or a saved session"),
            A::with("new", &["Space n"], arguments::PRESET, "open a built-in scenario"),
            A::with(
                "import",
                &["Space i"],
                arguments::IMPORT,
                "read files of another tool: format, files, parameters of the format",
            ),
        ],
    );
    actions.extend(at(
        TablePlace::Workbench,
        TableGroup::Files,
        vec![
            A::new("save_session", &["s"], Command::SaveSession, "write everything to disk now")
                .when(possible::open),
            A::with("save_to", &[], arguments::FOLDER, "move the session to another folder and save there")
                .when(possible::open),
            A::with("rename_session", &[], arguments::SESSION_NAME, "give the session another name")
                .when(possible::open),
            A::with(
                "note_session",
                &[],
                arguments::SESSION_NOTE,
                "attach a note to the session; - removes the note",
            )
            .when(possible::open),
            A::new("show_start", &["Space s"], Command::ShowStart, "go back to the start screen")
                .when(possible::open),
        ],
    ));
    actions
}

fn program() -> Vec<ActionInfo> {
    use ActionInfo as A;
    at(
        TablePlace::Anywhere,
        TableGroup::Program,
        vec![
            A::new("help", &["?", "F1"], Command::Help, "show the keys of this place; type to filter")
                .footer(10, "help"),
            A::with("explain", &["Space h"], arguments::WORD, "explain a term, such as NCT or gap"),
            A::new("palette", &[":"], Command::Palette, "find any action by name and run it")
                .footer(6, "commands"),
            A::new("log", &["L"], Command::Log, "show the log").footer(2, "log"),
            A::new("read_message", &["Space l"], Command::ReadMessage, "read the newest message in full"),
            A::with("record", &[], arguments::RECORDING, "record keys to a file, until :stop_recording"),
            A::new(
                "stop_recording",
                &[],
                Command::StopRecording,
                "end the recording and write the file of keys",
            )
            .when(possible::recording),
            A::with("script", &[], arguments::SCRIPT, "replay a file of keys"),
            A::new("next_palette", &["t"], Command::NextPalette, "switch to the next palette of colours")
                .footer(1, "palette"),
            A::new("next_glyphs", &["Space g"], Command::NextGlyphs, "switch to the next set of glyphs"),
            A::new(
                "toggle_mouse",
                &["M"],
                Command::ToggleMouse,
                "capture the mouse, or leave it to the terminal",
            )
            .footer(1, "mouse"),
            A::new("repaint", &["C-l"], Command::Repaint, "repaint everything"),
            A::new("suspend", &["C-z"], Command::Suspend, "suspend the program; fg brings it back"),
            A::new(
                "interrupt",
                &["C-c"],
                Command::Interrupt,
                "stop the solve; twice within two seconds: quit",
            ),
            A::new("back", &["Esc"], Command::Back, "go one step back: pop-up, zoom, selection"),
            A::new("quit", &["q"], Command::Quit, "quit; requires confirmation while a solve runs")
                .footer(10, "quit"),
        ],
    )
}
