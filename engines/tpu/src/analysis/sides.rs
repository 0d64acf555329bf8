//! Comparison of sets of routes by their hops and loads.

use super::explained::Routes;
use super::loads::{LoadFigures, Loads, UNEVEN, ratio};
use super::tori::{Tori, Torus};

/// One of the compared sets of routes.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Name, for example `after balancing`.
    pub name: String,
    /// Short name, for example `after`.
    pub short: String,
    /// The rule that selected the routes.
    pub note: &'static str,
    /// Number of hops on each virtual channel, over the whole pod.
    pub hops: Vec<u64>,
    /// Loads of every channel.
    pub loads: Loads,
    /// Distribution of the loads of each virtual channel.
    pub figures: Vec<LoadFigures>,
    /// `true` for the routes that the plan contains.
    pub present: bool,
}

impl Side {
    /// VC ratio: hops on the least used virtual channel divided by hops on the most used one.
    pub fn ratio(&self) -> Option<f64> {
        ratio(&self.hops)
    }

    /// Returns `true` if the virtual channels count as unevenly used.
    pub fn uneven(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio < UNEVEN)
    }

    /// Returns the distribution of the loads of a virtual channel.
    pub fn figures(&self, vc: usize) -> LoadFigures {
        self.figures.get(vc).copied().unwrap_or_default()
    }
}

fn figures(loads: &Loads) -> Vec<LoadFigures> {
    loads.vc.iter().map(|loads| LoadFigures::of(loads)).collect()
}

/// The sets of routes to compare: the routes of the plan before and after balancing, then the routes of the tori. If
/// `dor`, the plan's own routes use dimension-order routing.
pub fn sides(routes: &Routes, dor: bool, tori: Option<&Tori>) -> Vec<Side> {
    let mut sides = Vec::new();
    // With one virtual channel, there is nothing to balance.
    let balanced = routes.before.is_some() && routes.hops.len() > 1;
    if let (Some(before), Some(hops)) = (routes.before.as_ref().filter(|_| balanced), &routes.hops_before) {
        sides.push(Side {
            name: "before balancing".to_owned(),
            short: "before".to_owned(),
            note: "the same paths, vc0 preferred",
            hops: hops.clone(),
            figures: figures(before),
            loads: before.clone(),
            present: false,
        });
    }
    let (name, short, note) = match (dor, balanced) {
        (true, _) => ("this plan, DOR", "DOR", "dimension order, dateline"),
        (_, true) => ("after balancing", "after", "turn model, hops balanced"),
        (_, false) => ("this plan", "plan", "turn model"),
    };
    sides.push(Side {
        name: name.to_owned(),
        short: short.to_owned(),
        note,
        hops: routes.hops.clone(),
        figures: figures(&routes.after),
        loads: routes.after.clone(),
        present: true,
    });
    // A plan that is a torus is not compared with itself.
    sides.extend(tori.into_iter().flat_map(of_tori).filter(|side| side.hops != routes.hops));
    sides
}

/// The routes of the tori.
pub fn of_tori(tori: &Tori) -> Vec<Side> {
    let side = |torus: &Torus| {
        let routes = torus.routes.as_ref()?;
        Some(Side {
            name: format!("{}, DOR", torus.name),
            short: format!("{}, DOR", torus.family()),
            note: "dimension order, dateline",
            hops: routes.hops.clone(),
            figures: figures(&routes.after),
            loads: routes.after.clone(),
            present: false,
        })
    };
    tori.tori.iter().filter_map(side).collect()
}
