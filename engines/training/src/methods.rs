//! The methods of kind `training`, one file each, and their common code.

mod allocate;
mod approach;
mod auto;
mod carry;
mod evolve;
mod fixed_step;
mod given;
mod idle;
mod interval;
mod joint;
mod knobs;
mod modelled;
mod order;
mod phases;
mod prove;
mod reallocate;
mod robust;
mod select;
mod session;
mod simulate;
mod solver;
mod start;
mod topo;

use crate::Training;
use crate::search::baselines::Baseline;
use crate::simulate::evaluate::Rates;
use approach::InSession;
use lightbay_core::method::Method;
use lightbay_highs::modelled::Modelled;
use modelled::ProgramOf;
use std::sync::Arc;

pub use carry::carry;
pub use session::{candidate, figures, planned};

/// All methods, in the order in which they are listed.
pub fn all() -> Vec<Arc<dyn Method<Training>>> {
    let mut methods: Vec<Arc<dyn Method<Training>>> = Vec::new();
    for baseline in Baseline::ALL {
        methods.push(Arc::new(InSession(allocate::Allocate(baseline))));
    }
    methods.push(Arc::new(InSession(evolve::Evolve { name: "delta-fast", rates: Rates::Fair })));
    methods.push(Arc::new(InSession(evolve::Evolve { name: "delta-level", rates: Rates::Level })));
    methods.push(Arc::new(InSession(topo::Topo)));
    methods.push(Arc::new(InSession(joint::Joint)));
    methods.push(Arc::new(InSession(order::Ordered)));
    methods.push(Arc::new(InSession(select::Select)));
    methods.push(Arc::new(InSession(interval::IntervalMethod)));
    methods.push(Arc::new(InSession(fixed_step::FixedSteps)));
    methods.push(Arc::new(InSession(phases::MovingCircuits)));
    methods.push(Arc::new(InSession(auto::Auto)));
    methods.push(Arc::new(InSession(simulate::Simulate)));
    methods.push(Arc::new(reallocate::Reallocate));
    methods
}

/// The models of the methods that solve a single model, for export to other solvers.
pub fn models() -> Vec<Arc<dyn Modelled<Training>>> {
    vec![
        Arc::new(ProgramOf(select::SelectionProgram)),
        Arc::new(ProgramOf(interval::IntervalProgram)),
        Arc::new(ProgramOf(fixed_step::FixedStepModel)),
    ]
}
