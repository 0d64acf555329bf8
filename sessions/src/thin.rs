//! Thins curves: decides which points may be left out when there are too many.
//!
//! Progress events may be thinned (bounds, solver and generation figures, series). Each curve is thinned separately, so
//! that a slow curve keeps its few points next to a fast one. All other events stay. With each incumbent or bound, the
//! figures that show the state of the search at that time stay too.

use lightbay_core::event::{EventBody, RunId};
use std::collections::{HashMap, VecDeque};

/// A curve: events of which some may be left out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Curve {
    run: RunId,
    sort: Sort,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Sort {
    Bound(Option<String>),
    Solver,
    Generation,
    Series(String),
    /// Lines of a solver's log: not a curve, but thinned in the same way.
    Line,
    /// Objective values of candidates whose plans are not built yet; an event with a plan number follows when the plan
    /// is built.
    Unchecked,
}

impl Curve {
    /// Returns the curve to which a progress event belongs; `None` for milestones.
    pub(crate) fn of_progress(run: RunId, body: &EventBody) -> Option<Self> {
        let sort = match body {
            EventBody::Bound(bound) => Sort::Bound(bound.only.clone()),
            EventBody::Solver(_) => Sort::Solver,
            EventBody::Generation(_) => Sort::Generation,
            EventBody::Series(point) => Sort::Series(point.name.clone()),
            _ => return None,
        };
        Some(Self { run, sort })
    }

    /// Returns the curve of an event like [`Self::of_progress`], with a curve for the lines of a solver's log.
    pub(crate) fn of(run: RunId, body: &EventBody) -> Option<Self> {
        match body {
            EventBody::Line(_) => Some(Self { run, sort: Sort::Line }),
            body => Self::of_progress(run, body),
        }
    }

    /// Returns the curves that show the state of a search when an incumbent or a bound arrives: the figures of the
    /// solver and of the generations.
    pub(crate) const fn standing(run: RunId) -> [Self; 2] {
        [Self { run, sort: Sort::Solver }, Self { run, sort: Sort::Generation }]
    }

    /// Returns `true` if the curve belongs to a run.
    pub(crate) fn is_of(&self, run: RunId) -> bool {
        self.run == run
    }

    /// Returns the curve of an incumbent that has no plan yet.
    pub(crate) fn of_unchecked(run: RunId, body: &EventBody) -> Option<Self> {
        is_unchecked(body).then_some(Self { run, sort: Sort::Unchecked })
    }
}

/// Selects bounds that differ from the previous bound of the run; a repeated bound may be left out like any other
/// point.
#[derive(Debug, Default)]
pub(crate) struct NewBounds {
    known: HashMap<RunId, (f64, Option<String>)>,
}

impl NewBounds {
    /// Returns `true` if the event is a bound that differs from the bound before.
    pub(crate) fn is_new(&mut self, run: RunId, body: &EventBody) -> bool {
        let EventBody::Bound(bound) = body else { return false };
        let before = self.known.get(&run);
        let new = before.is_none_or(|(value, only)| *value != bound.value || *only != bound.only);
        if new {
            self.known.insert(run, (bound.value, bound.only.clone()));
        }
        new
    }
}

/// Returns `true` if this is an incumbent whose plan is not built.
pub(crate) fn is_unchecked(body: &EventBody) -> bool {
    matches!(body, EventBody::Incumbent(incumbent) if incumbent.number == 0)
}

/// Leaves out every second item of each curve, but keeps the newest; returns the number of items that were left out.
pub(crate) fn halve<T>(items: &mut VecDeque<T>, curve: impl Fn(&T) -> Option<Curve>) -> u64 {
    let mut turns: HashMap<Curve, bool> = HashMap::new();
    let mut keep: Vec<bool> = items
        .iter()
        .rev()
        .map(|item| {
            curve(item).is_none_or(|curve| {
                let turn = turns.entry(curve).or_insert(false);
                *turn = !*turn;
                *turn
            })
        })
        .collect();
    let before = items.len();
    items.retain(|_| keep.pop().unwrap_or(true));
    (before - items.len()) as u64
}

/// Keeps at most a given number of points of all curves together (two for each curve, if that is more), spread evenly
/// over the whole length of each curve. The newest point of each curve is kept in addition.
#[derive(Debug)]
pub(crate) struct Thinner<T> {
    limit: usize,
    stride: u64,
    kept: Vec<Kept<T>>,
    points: usize,
    numbers: HashMap<Curve, usize>,
    curves: Vec<CurveState<T>>,
    next: u64,
    left_out: u64,
}

#[derive(Debug)]
struct Kept<T> {
    order: u64,
    /// The curve of the item and its position in the curve; `None` for an item that always stays.
    place: Option<(usize, u64)>,
    item: T,
}

#[derive(Debug)]
struct CurveState<T> {
    seen: u64,
    /// The newest point of the curve, if it has not been kept yet; the result contains this point, because a curve must
    /// keep its end.
    newest: Option<(u64, T)>,
}

impl<T> Thinner<T> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(2),
            stride: 1,
            kept: Vec::new(),
            points: 0,
            numbers: HashMap::new(),
            curves: Vec::new(),
            next: 0,
            left_out: 0,
        }
    }

    pub(crate) fn push(&mut self, curve: Option<Curve>, item: T) {
        let order = self.next;
        self.next += 1;
        let Some(curve) = curve else {
            self.kept.push(Kept { order, place: None, item });
            return;
        };
        let number = *self.numbers.entry(curve).or_insert(self.curves.len());
        if number == self.curves.len() {
            self.curves.push(CurveState { seen: 0, newest: None });
        }
        let state = &mut self.curves[number];
        let position = state.seen;
        state.seen += 1;
        let before = state.newest.take();
        self.left_out += u64::from(before.is_some());
        if !position.is_multiple_of(self.stride) {
            state.newest = Some((order, item));
            return;
        }
        self.kept.push(Kept { order, place: Some((number, position)), item });
        self.points += 1;
        // Curves with one point each cannot be thinned, so the limit may be exceeded.
        while self.points > self.limit && self.points > 2 * self.curves.len() {
            self.double_stride();
        }
    }

    /// Keeps the newest point of a curve.
    pub(crate) fn pin(&mut self, curve: &Curve) {
        let Some(number) = self.numbers.get(curve).copied() else { return };
        let state = &mut self.curves[number];
        if let Some((order, item)) = state.newest.take() {
            self.kept.push(Kept { order, place: None, item });
            return;
        }
        let newest = (number, state.seen.wrapping_sub(1));
        let kept = self.kept.iter_mut().rev().find(|kept| kept.place.is_some_and(|place| place.0 == number));
        if let Some(kept) = kept.filter(|kept| kept.place == Some(newest)) {
            kept.place = None;
            self.points -= 1;
        }
    }

    fn double_stride(&mut self) {
        self.stride *= 2;
        let stride = self.stride;
        let goes =
            |kept: &mut Kept<T>| kept.place.is_some_and(|(_, position)| !position.is_multiple_of(stride));
        for gone in self.kept.extract_if(.., goes) {
            self.points -= 1;
            let Some((number, position)) = gone.place else { continue };
            let state = &mut self.curves[number];
            if position + 1 == state.seen {
                state.newest = Some((gone.order, gone.item));
            } else {
                self.left_out += 1;
            }
        }
    }

    /// Returns the kept items in order, each with its position among all items, and the number of points left out.
    pub(crate) fn finish(self) -> (Vec<(u64, T)>, u64) {
        let mut all: Vec<(u64, T)> = self.kept.into_iter().map(|kept| (kept.order, kept.item)).collect();
        all.extend(self.curves.into_iter().filter_map(|state| state.newest));
        all.sort_by_key(|(order, _)| *order);
        (all, self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::event::{Bound, SeriesPoint};
    use proptest::prelude::*;

    fn bound(run: u64) -> Option<Curve> {
        Curve::of_progress(RunId(run), &EventBody::Bound(Bound { value: 0.0, only: None }))
    }

    fn series(run: u64, name: &str) -> Option<Curve> {
        let point = SeriesPoint { name: name.to_owned(), x: 0.0, y: 0.0 };
        Curve::of_progress(RunId(run), &EventBody::Series(point))
    }

    #[test]
    fn halving_takes_from_each_curve_and_keeps_its_newest() {
        let mut items: VecDeque<(u32, Option<Curve>)> = VecDeque::new();
        for i in 0..6 {
            items.push_back((i, bound(1)));
        }
        items.push_back((6, None));
        items.push_back((7, bound(2)));
        items.push_back((8, series(1, "a")));
        items.push_back((9, series(1, "b")));
        assert_eq!(halve(&mut items, |(_, curve)| curve.clone()), 3);
        let left: Vec<u32> = items.iter().map(|(i, _)| *i).collect();
        assert_eq!(left, [1, 3, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_point_that_is_pinned_stays_wherever_it_is() {
        let mut thinner = Thinner::new(4);
        let mut pinned = Vec::new();
        for i in 0..1000 {
            thinner.push(bound(1), i);
            if i % 90 == 7 {
                thinner.pin(&bound(1).unwrap());
                pinned.push(i);
            }
        }
        thinner.pin(&bound(2).unwrap());
        let (kept, left_out) = thinner.finish();
        let kept: Vec<usize> = kept.into_iter().map(|(_, i)| i).collect();
        assert!(pinned.iter().all(|i| kept.contains(i)), "{pinned:?} in {kept:?}");
        assert!(kept.is_sorted() && kept.len() <= pinned.len() + 7, "{kept:?}");
        assert_eq!(kept.len() as u64 + left_out, 1000);
    }

    proptest! {
        #[test]
        fn thinning_keeps_order_milestones_and_both_ends(
            sorts in prop::collection::vec(0_u64..4, 1..400),
            limit in 2_usize..40,
        ) {
            let mut thinner = Thinner::new(limit);
            for (i, sort) in sorts.iter().enumerate() {
                thinner.push(if *sort == 0 { None } else { bound(*sort) }, i);
            }
            let (kept, left_out) = thinner.finish();
            prop_assert!(kept.iter().all(|(order, i)| *order == *i as u64));
            let kept: Vec<usize> = kept.into_iter().map(|(_, i)| i).collect();
            prop_assert!(kept.is_sorted());
            prop_assert_eq!(kept.len() as u64 + left_out, sorts.len() as u64);
            for sort in 0..4 {
                let all: Vec<usize> = (0..sorts.len()).filter(|i| sorts[*i] == sort).collect();
                let left: Vec<usize> = kept.iter().copied().filter(|i| sorts[*i] == sort).collect();
                if sort == 0 {
                    prop_assert_eq!(&left, &all);
                }
                prop_assert_eq!(left.first(), all.first());
                prop_assert_eq!(left.last(), all.last());
            }
            let points = kept.iter().filter(|i| sorts[**i] != 0).count();
            prop_assert!(points <= limit.max(6) + 3, "{points} of {limit}");
        }
    }
}
