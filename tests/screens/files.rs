//! Common functions for the screens of several kinds: plans from files, a single pane on the screen, and search for
//! text.

use super::fixture::Bench;
use lightbay::app::Command;
use lightbay::app::pane::PaneId;
use lightbay::app::plans::PlanRef;
use lightbay_core::kind::Depth;
use lightbay_engines::AnyFile;

/// Reads a plan file of the tests, which must pass the checker.
pub fn plan(name: &str) -> PlanRef {
    let path = format!("{}/tests/resources/inputs/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap();
    let AnyFile::Plan(file) = lightbay_engines::read_file(file, &path).unwrap() else {
        panic!("{path} is no plan")
    };
    let report = file.check(Depth::Usual);
    assert!(report.violations.is_empty(), "{name}: {:?}", report.violations);
    PlanRef(report.plan.unwrap())
}

impl Bench {
    /// Returns the screen with one pane of a kind on the whole screen.
    pub fn alone(&mut self, kind: &str, pane: u8, width: u16, height: u16) -> String {
        self.run(Command::Focus(PaneId::Kind(pane)));
        self.app.focus.zoomed = true;
        let screen = self.screen(&format!("{kind}-pane-{pane}"), width, height);
        self.app.focus.zoomed = false;
        screen
    }
}

/// Asserts that the screen contains a text.
pub fn has(screen: &str, text: &str) {
    assert!(screen.contains(text), "no '{text}' in\n{screen}");
}

/// Returns the first line below header and tabs that contains a text.
pub fn line<'a>(screen: &'a str, text: &str) -> &'a str {
    screen
        .lines()
        .skip(2)
        .find(|line| line.contains(text))
        .unwrap_or_else(|| panic!("no '{text}' in\n{screen}"))
}
