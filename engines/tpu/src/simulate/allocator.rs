//! Allocators of a crossbar: matchings between requesters and resources, one round at a time.
//!
//! | rule | matching |
//! |---|---|
//! | wavefront | maximal: diagonals of the request matrix are granted one after the other; the first diagonal rotates |
//! | iSLIP | resources grant, requesters accept, both by rotating priority; maximal only after enough iterations |
//!
//! Sources: Tamir and Chi for wavefronts, McKeown for iSLIP. A round takes time proportional to the number of requests,
//! not to the size of the matrix.

/// Largest number of requesters, and of resources: a bit mask of them is one word.
pub(super) const WIDTH: usize = u128::BITS as usize;

/// The requests of one round.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    /// Resources that each requester asks for, as a bit mask.
    rows: Vec<u128>,
    /// Requesters that ask for each resource, as a bit mask.
    columns: Vec<u128>,
    /// Requesters and resources with at least one request.
    requesters: u128,
    resources: u128,
}

impl Requests {
    /// Room for the requests of `requesters` for `resources`, each at most [`WIDTH`].
    pub(super) fn new(requesters: usize, resources: usize) -> Self {
        debug_assert!(requesters <= WIDTH && resources <= WIDTH);
        Self { rows: vec![0; requesters], columns: vec![0; resources], requesters: 0, resources: 0 }
    }

    pub(super) fn add(&mut self, requester: usize, resource: usize) {
        self.rows[requester] |= 1 << resource;
        self.columns[resource] |= 1 << requester;
        self.requesters |= 1 << requester;
        self.resources |= 1 << resource;
    }

    pub(super) fn clear(&mut self) {
        bits(self.requesters).for_each(|requester| self.rows[requester] = 0);
        bits(self.resources).for_each(|resource| self.columns[resource] = 0);
        (self.requesters, self.resources) = (0, 0);
    }
}

/// The priorities of one allocator, which change from round to round.
#[derive(Clone, Debug)]
pub(super) enum Priorities {
    Wavefront {
        /// The diagonal that is granted first in the next round.
        first: usize,
        /// Space for the requests of a round in the order of their diagonals.
        order: Vec<u32>,
    },
    Islip {
        /// For each resource, the requester that it prefers.
        grants: Vec<u8>,
        /// For each requester, the resource that it prefers.
        accepts: Vec<u8>,
        iterations: u8,
    },
}

impl Priorities {
    pub(super) const fn wavefront() -> Self {
        Self::Wavefront { first: 0, order: Vec::new() }
    }

    pub(super) fn islip(requesters: usize, resources: usize, iterations: u8) -> Self {
        Self::Islip { grants: vec![0; resources], accepts: vec![0; requesters], iterations }
    }

    /// Matches requesters to resources, each at most once, and adds the pairs to `found`.
    pub(super) fn allocate(&mut self, requests: &Requests, found: &mut Vec<(u8, u8)>) {
        match self {
            // Without a request, priorities stay.
            _ if requests.requesters == 0 => {}
            Self::Wavefront { first, order } => {
                wavefront(*first, requests, order, found);
                *first = (*first + 1) % requests.rows.len().max(requests.columns.len());
            }
            Self::Islip { grants, accepts, iterations } => {
                islip(grants, accepts, *iterations, requests, found);
            }
        }
    }
}

/// Grants the diagonals `requester + resource = first, first + 1, …` of the request matrix, modulo its larger side. The
/// requests of one diagonal cannot conflict, because no two of them share a row or a column. Every request is visited
/// and refused only if its row or column is taken, so the matching is maximal.
fn wavefront(first: usize, requests: &Requests, order: &mut Vec<u32>, found: &mut Vec<(u8, u8)>) {
    let side = requests.rows.len().max(requests.columns.len());
    order.clear();
    for requester in bits(requests.requesters) {
        for resource in bits(requests.rows[requester]) {
            let diagonal = (requester + resource + side - first) % side;
            order.push((diagonal << 16 | requester << 8 | resource) as u32);
        }
    }
    order.sort_unstable();
    let (mut requesters, mut resources) = (requests.requesters, requests.resources);
    for key in order {
        let (requester, resource) = ((*key >> 8) as u8, *key as u8);
        if requesters >> requester & resources >> resource & 1 == 1 {
            requesters &= !(1 << requester);
            resources &= !(1 << resource);
            found.push((requester, resource));
        }
    }
}

/// Lets every free resource grant the first free requester at or after its pointer, and every requester accept the
/// first grant at or after its own pointer. Pointers move just past their match, and only in the first iteration, so
/// that a requester whose grant was not accepted stays first in line.
fn islip(
    grants: &mut [u8],
    accepts: &mut [u8],
    iterations: u8,
    requests: &Requests,
    found: &mut Vec<(u8, u8)>,
) {
    let (mut requesters, mut resources) = (requests.requesters, requests.resources);
    let mut granted = [0u128; WIDTH];
    for iteration in 0..iterations {
        let mut offered = 0u128;
        for resource in bits(resources) {
            let waiting = requests.columns[resource] & requesters;
            if waiting != 0 {
                let requester = at_or_after(waiting, grants[resource]);
                granted[usize::from(requester)] |= 1 << resource;
                offered |= 1 << requester;
            }
        }
        if offered == 0 {
            return;
        }
        for requester in bits(offered) {
            let resource = at_or_after(std::mem::take(&mut granted[requester]), accepts[requester]);
            requesters &= !(1 << requester);
            resources &= !(1 << resource);
            found.push((requester as u8, resource));
            if iteration == 0 {
                grants[usize::from(resource)] = (requester + 1) as u8 % requests.rows.len() as u8;
                accepts[requester] = (resource + 1) % requests.columns.len() as u8;
            }
        }
    }
}

/// Returns the lowest bit of a nonempty mask that is at least `start`; the lowest bit if there is none.
const fn at_or_after(mask: u128, start: u8) -> u8 {
    let after = mask & (u128::MAX << start);
    (if after == 0 { mask } else { after }).trailing_zeros() as u8
}

/// The numbers of the bits of a mask, in ascending order.
pub(super) fn bits(mask: u128) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        (left != 0).then(|| {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lightbay_core::random::Streams;
    use proptest::prelude::*;
    use rand::RngExt;

    fn requests(rows: &[u128], resources: usize) -> Requests {
        let mut all = Requests::new(rows.len(), resources);
        for (requester, &row) in rows.iter().enumerate() {
            bits(row).for_each(|resource| all.add(requester, resource));
        }
        all
    }

    fn round(priorities: &mut Priorities, requests: &Requests) -> Vec<(u8, u8)> {
        let mut found = Vec::new();
        priorities.allocate(requests, &mut found);
        found.sort_unstable();
        found
    }

    #[test]
    fn the_first_diagonal_of_a_wavefront_rotates() {
        let full = requests(&[0b111; 3], 3);
        let mut wavefront = Priorities::wavefront();
        // Requester + resource = 0, 1, 2 modulo 3.
        assert_eq!(round(&mut wavefront, &full), [(0, 0), (1, 2), (2, 1)]);
        assert_eq!(round(&mut wavefront, &full), [(0, 1), (1, 0), (2, 2)]);
        assert_eq!(round(&mut wavefront, &full), [(0, 2), (1, 1), (2, 0)]);
        assert_eq!(round(&mut wavefront, &full), [(0, 0), (1, 2), (2, 1)]);
        // The diagonal 1 has the request (0, 1) alone; it takes the row and the column of the others.
        let few = requests(&[0b11, 0b10], 2);
        let mut wavefront = Priorities::Wavefront { first: 1, order: Vec::new() };
        assert_eq!(round(&mut wavefront, &few), [(0, 1)]);
        assert_eq!(round(&mut wavefront, &few), [(0, 0), (1, 1)]);
    }

    #[test]
    fn pointers_move_past_first_accepts_alone() {
        // Both resources grant requester 0, which accepts resource 0; requester 1 is left with one iteration.
        let both = requests(&[0b11, 0b11], 2);
        let mut one = Priorities::islip(2, 2, 1);
        assert_eq!(round(&mut one, &both), [(0, 0)]);
        let Priorities::Islip { grants, accepts, .. } = &one else { panic!("iSLIP") };
        // The grant of resource 1 was not accepted, so its pointer stays.
        assert_eq!((&grants[..], &accepts[..]), (&[1, 0][..], &[1, 0][..]));
        assert_eq!(round(&mut one, &both), [(0, 1), (1, 0)]);
        assert_eq!(round(&mut one, &both), [(0, 0), (1, 1)]);
        let mut two = Priorities::islip(2, 2, 2);
        assert_eq!(round(&mut two, &both), [(0, 0), (1, 1)]);
        let Priorities::Islip { grants, accepts, .. } = &two else { panic!("iSLIP") };
        // The match of the second iteration moved no pointer.
        assert_eq!((&grants[..], &accepts[..]), (&[1, 0][..], &[1, 0][..]));
    }

    #[test]
    fn pointers_of_a_full_switch_desynchronise_and_share_fairly() {
        let full = requests(&[0b1111; 4], 4);
        for mut rule in [Priorities::islip(4, 4, 1), Priorities::wavefront()] {
            for _ in 0..16 {
                round(&mut rule, &full);
            }
            let mut served = [[0; 4]; 4];
            for _ in 0..400 {
                let found = round(&mut rule, &full);
                assert_eq!(found.len(), 4, "{rule:?}");
                for (from, to) in found {
                    served[usize::from(from)][usize::from(to)] += 1;
                }
            }
            assert_eq!(served, [[100; 4]; 4], "{rule:?}");
        }
    }

    #[test]
    fn a_lone_pair_is_matched_in_every_round() {
        let lone = requests(&[0, 0, 0b1000, 0], 5);
        for mut rule in [Priorities::wavefront(), Priorities::islip(4, 5, 1)] {
            for _ in 0..20 {
                assert_eq!(round(&mut rule, &lone), [(2, 3)]);
            }
            assert!(round(&mut rule, &requests(&[0; 4], 5)).is_empty());
        }
    }

    /// Every input has a first-in first-out queue whose head goes to a random output: 2 - √2 = 0.586 of the outputs are
    /// served in the limit of many inputs (Karol, Hluchyj and Morgan).
    #[test]
    fn heads_of_queues_block_each_other() {
        const SIDE: usize = 64;
        for mut rule in [Priorities::wavefront(), Priorities::islip(SIDE, SIDE, 1)] {
            let mut random = Streams::new(5).stream(0);
            let mut heads = [0usize; SIDE].map(|_| random.random_range(0..SIDE));
            let mut served = 0;
            for cycle in 0..3000 {
                let mut all = Requests::new(SIDE, SIDE);
                heads.iter().enumerate().for_each(|(input, &output)| all.add(input, output));
                let found = round(&mut rule, &all);
                if cycle >= 1000 {
                    served += found.len();
                }
                for (input, _) in found {
                    heads[usize::from(input)] = random.random_range(0..SIDE);
                }
            }
            let rate = served as f64 / (2000 * SIDE) as f64;
            assert!((rate - 0.586).abs() < 0.012, "{rule:?}: {rate}");
        }
    }

    proptest! {
        /// Pairs were requested and share no row or column; a wavefront, or as many iterations as rows, leaves no
        /// request whose row and column are both free.
        #[test]
        fn matchings_are_valid_and_maximal(
            rows in proptest::collection::vec(0u128..1 << 24, 1..25),
            first in 0usize..24,
            pointers in proptest::collection::vec(0u8..24, 48),
            again in 1usize..4,
        ) {
            let all = requests(&rows, 24);
            let few = Priorities::Islip {
                grants: pointers[..24].iter().map(|at| at % rows.len() as u8).collect(),
                accepts: pointers[24..24 + rows.len()].to_vec(),
                iterations: 1,
            };
            let mut many = few.clone();
            if let Priorities::Islip { iterations, .. } = &mut many {
                *iterations = 25;
            }
            let first = first % rows.len().max(24);
            let wavefront = Priorities::Wavefront { first, order: Vec::new() };
            for (mut rule, is_maximal) in [(wavefront, true), (many, true), (few, false)] {
                for _ in 0..again {
                    let found = round(&mut rule, &all);
                    let (mut requesters, mut resources) = (0u128, 0u128);
                    for &(from, to) in &found {
                        prop_assert!(rows[usize::from(from)] >> to & 1 == 1);
                        prop_assert!(requesters >> from & 1 == 0 && resources >> to & 1 == 0);
                        requesters |= 1 << from;
                        resources |= 1 << to;
                    }
                    prop_assert!(!found.is_empty() || rows.iter().all(|&row| row == 0));
                    let open = rows.iter().enumerate().any(|(from, row)| {
                        requesters >> from & 1 == 0 && row & !resources != 0
                    });
                    prop_assert!(!(is_maximal && open), "{:?}", rule);
                }
            }
        }
    }
}
