//! Rates within windows where jobs compete for several resources at once: a linear program over the amount of every job
//! in every stretch, or, if capacity is missing, the prices that prove the lack of capacity.

use super::cuts::{Priced, Shortage, View};
use super::problem::{Point, Resource};
use super::rates::Service;
use super::simplex::{Dictionary, PivotEnd, Row};
use crate::search::circuits::Proposal;
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Maximum number of amount variables of a program; above it, the program is not solved and the feasibility of the
/// windows stays open. The dictionary of the simplex is dense: 1,500 rows times 1,500 columns of doubles take 18 MB.
const MOST_AMOUNTS: usize = 1_500;

/// Maximum number of pivots, a safeguard against cycling: about 13 for each amount variable of the largest program.
const PIVOTS: usize = 20_000;

/// Serves all jobs of some resources within their windows. Returns the amount of work of each job in each stretch, and
/// the capacity violation if the work does not fit; `None` if the program is too large or takes too many pivots.
pub fn serve<W: Watch<Proposal>>(
    view: View<'_>,
    resources: &[&Resource],
    watch: &mut W,
) -> Result<Option<(Service, Option<Shortage>)>, MethodError> {
    // Jobs of all resources of the component, once each.
    let mut jobs: Vec<u32> =
        resources.iter().flat_map(|resource| resource.shares.iter().map(|(job, _)| *job)).collect();
    jobs.sort_unstable();
    jobs.dedup();
    let mut points: Vec<(f64, Point)> = jobs
        .iter()
        .flat_map(|job| {
            let job = &view.problem.jobs[*job as usize];
            [(view.at(job.start), job.start), (view.at(job.end), job.end)]
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Elementary stretches between the distinct starts and ends: rates can be constant within each stretch without loss
    // of generality.
    points.dedup_by(|later, earlier| later.0 == earlier.0);
    let stretches = points.len().saturating_sub(1);
    // Variable 0 is the fraction of all work that is left undone. With this variable, the program is feasible from the
    // start; its minimum is 0 exactly if all work fits. The other variables are the amounts of work of each job in
    // the stretches of its window.
    let mut variable = vec![0u32; jobs.len() * stretches];
    let mut variables = 1;
    for (position, &job) in jobs.iter().enumerate() {
        let job = &view.problem.jobs[job as usize];
        for stretch in 0..stretches {
            if points[stretch].0 >= view.at(job.start) && points[stretch + 1].0 <= view.at(job.end) {
                // Amounts exist only inside windows.
                variable[position * stretches + stretch] = variables;
                variables += 1;
            }
        }
    }
    if variables as usize > MOST_AMOUNTS {
        return Ok(None);
    }
    let length = |stretch: usize| points[stretch + 1].0 - points[stretch].0;
    // Row of a job: amounts + undone share * work = work.
    let mut program = Dictionary::new(vec![0.0; variables as usize], 0);
    for (position, &job) in jobs.iter().enumerate() {
        let work = view.problem.jobs[job as usize].work;
        let mut terms = vec![(0, work)];
        let amounts = &variable[position * stretches..(position + 1) * stretches];
        terms.extend(amounts.iter().filter(|at| **at > 0).map(|at| (*at, 1.0)));
        program.add(Row { terms, constant: -work });
    }
    // Then the rows of the resources, by stretch, so that their prices are easy to find.
    for stretch in 0..stretches {
        for resource in resources {
            let shares = resource.shares.iter().filter_map(|&(job, weight)| {
                let position = jobs.binary_search(&job).ok()?;
                let at = variable[position * stretches + stretch];
                (at > 0).then_some((at, -weight))
            });
            let terms = shares.collect();
            program.add(Row { terms, constant: resource.capacity * length(stretch) });
        }
    }
    // No job runs faster than at full speed in a stretch.
    for (at, &amount) in variable.iter().enumerate().filter(|(_, amount)| **amount > 0) {
        program.add(Row { terms: vec![(amount, -1.0)], constant: length(at % stretches) });
    }
    // Dual simplex in short runs, so that the search can be stopped between them.
    let mut pivots = 0;
    loop {
        watch.checkpoint()?;
        match program.optimise(32) {
            PivotEnd::Optimal => break,
            PivotEnd::Infeasible => return Ok(None),
            PivotEnd::Unfinished => pivots += 32,
        }
        if pivots > PIVOTS {
            return Ok(None);
        }
    }
    let mut values = Vec::new();
    program.values_into(&mut values);
    let undone = values[0].max(0.0);
    let amount =
        variable.iter().map(|at| if *at > 0 { values[*at as usize].max(0.0) } else { 0.0 }).collect();
    let times = points.iter().map(|(time, _)| *time).collect();
    // The multipliers prove that the work does not fit; with them the capacity violation becomes a row over the time
    // points.
    let shortage = (undone > 0.0).then(|| {
        let multipliers = program.multipliers();
        prices(view, resources, &jobs, &points, &multipliers)
    });
    // Times stretched by 1 / (1 - undone) let all work fit, because every capacity grows with its length.
    Ok(Some((Service { jobs, times, amount, stretch: 1.0 / (1.0 - undone).max(1e-9) }, shortage)))
}

/// Returns the capacity violation that the multipliers of the program prove.
fn prices(
    view: View<'_>,
    resources: &[&Resource],
    jobs: &[u32],
    points: &[(f64, Point)],
    multipliers: &[f64],
) -> Shortage {
    // Worth of a unit of work is the multiplier of its row.
    let worth: Vec<(u32, f64)> = jobs.iter().copied().zip(multipliers.iter().copied()).collect();
    let whole = || Priced { cost: 0.0, yields: worth.iter().map(|(_, value)| *value).collect() };
    let mut stretches = vec![whole()];
    let mut between: Vec<Point> = Vec::new();
    for stretch in 0..points.len().saturating_sub(1) {
        let mut priced = whole();
        for (at, resource) in resources.iter().enumerate() {
            let price = multipliers[jobs.len() + stretch * resources.len() + at];
            priced.cost += price * resource.capacity;
            // Yield of a job per second of its window in this stretch: the multiplier of its work minus the prices of
            // the resources that it uses, each times its weight.
            for &(job, weight) in &resource.shares {
                if let Ok(position) = jobs.binary_search(&job) {
                    priced.yields[position] -= price * weight;
                }
            }
        }
        priced.yields.iter_mut().for_each(|value| *value = value.max(0.0));
        // Neighbouring stretches with equal prices are merged, which keeps the row short.
        if stretches.last() != Some(&priced) {
            between.push(points[stretch].1);
            stretches.push(priced);
        }
    }
    let last = whole();
    if let Some((_, point)) = points.last()
        && stretches.last() != Some(&last)
    {
        between.push(*point);
        stretches.push(last);
    }
    view.priced(&worth, &between, &stretches)
}
