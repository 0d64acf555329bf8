//! The preview: the plan of a quick method, which panes show before the first solve.

use crate::app::effect::{Effect, Effects, Evaluation};
use crate::app::layer::Preview;
use crate::app::plans::PlanRef;
use crate::app::state::App;
use lightbay_core::param::ParamValue;

/// The numbers of preview requests begin here, above the numbers of all plans, because [`App::shown_key`] returns
/// either number.
const FIRST_KEY: u64 = 1 << 62;

/// Time limit of the preview method, s: on a busy machine, a second of computing may take ten.
const LIMIT_S: f64 = 10.0;

/// Time of a run in which its first plan may arrive before a preview, s.
const EARLY_S: f64 = 1.0;

/// The preview of the scenario that is open.
#[derive(Clone, Debug, Default)]
pub struct PlanPreview {
    /// The scenario for which the preview was requested: its number ([`App::opened`]) and its hash.
    of: Option<(u64, String)>,
    /// Number of requests so far.
    count: u64,
    plan: Option<PlanRef>,
}

impl PlanPreview {
    /// Returns the number of the request, which also identifies the plan.
    pub const fn key(&self) -> u64 {
        FIRST_KEY + self.count
    }
}

impl App {
    /// Returns the preview, if the session has no plan yet.
    pub fn preview(&self) -> Option<&PlanRef> {
        self.preview.plan.as_ref().filter(|_| self.plans.rows().is_empty())
    }

    /// Returns the name of the preview method of the open scenario's kind; empty if the kind has no preview method.
    fn preview_method(&self) -> &'static str {
        let kind = self.work.as_ref().and_then(|work| lightbay_engines::kind(work.kind));
        kind.map_or("", |kind| kind.preview_method)
    }

    /// Requests a preview after a frame was drawn, unless there are plans or a run started just now.
    pub(crate) fn request_preview(&mut self, effects: &mut Effects) {
        let Some(work) = &self.work else { return };
        if !self.plans.rows().is_empty() {
            self.preview.plan = None;
            return;
        }
        let method = self.preview_method();
        let of = (self.opened, work.now.sha256.clone());
        let is_early = self.runs.active().any(|run| self.elapsed_s(run) < EARLY_S);
        if method.is_empty() || is_early || self.preview.of.as_ref() == Some(&of) {
            return;
        }
        let limit = vec![("time_limit_s".to_owned(), ParamValue::Float(LIMIT_S))];
        let scenario = work.now.scenario.clone();
        self.preview = PlanPreview { of: Some(of), count: self.preview.count + 1, plan: None };
        effects.push(Effect::Evaluate(Evaluation {
            key: self.preview.key(),
            scenario,
            method: method.to_owned(),
            base: None,
            variants: vec![("", limit)],
        }));
    }

    /// Stores a preview; returns `false` for the result of another request. If the preview method found no plan, the
    /// panes stay empty.
    pub(crate) fn previewed(&mut self, key: u64, previews: &[Preview]) -> bool {
        if key < FIRST_KEY {
            return false;
        }
        if key == self.preview.key() {
            self.preview.plan = previews.first().and_then(|preview| preview.plan.clone().ok());
            self.touch();
        }
        true
    }
}
