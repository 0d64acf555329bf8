//! Designed pods with what bounds their throughput: annealed for hops and two lengths, certified by column
//! generation (the largest by its two lengths).

/// A design: cyclic factors of its group, the voltages, and an upper bound of its throughput.
pub struct Design {
    /// Cyclic factors of the group.
    pub factors: &'static [usize],
    /// By switch.
    pub voltage: [u16; 48],
    /// Flits per cycle and ordered pair.
    pub mcf_upper: f64,
}

/// Designs, smallest first.
pub const DESIGNS: &[Design] = &[
    Design {
        factors: &[2],
        voltage: [
            0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1,
            1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0,
        ],
        mcf_upper: 0.01318360612,
    },
    Design {
        factors: &[3],
        voltage: [
            2, 0, 2, 1, 1, 2, 1, 2, 2, 1, 2, 1, 1, 2, 1, 2, 1, 2, 1, 2, 2, 1, 2, 1, 1, 2, 1, 2, 2, 1, 2, 1,
            2, 1, 2, 1, 1, 2, 1, 2, 2, 1, 2, 1, 1, 2, 1, 2,
        ],
        mcf_upper: 0.008844665561,
    },
    Design {
        factors: &[2, 2],
        voltage: [
            3, 1, 3, 1, 1, 2, 1, 2, 3, 1, 3, 1, 1, 2, 1, 2, 3, 2, 1, 3, 2, 1, 3, 2, 3, 2, 1, 3, 1, 3, 2, 1,
            3, 2, 1, 3, 1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2,
        ],
        mcf_upper: 0.006332871561,
    },
    Design {
        factors: &[6],
        voltage: [
            1, 4, 1, 4, 3, 5, 3, 2, 1, 2, 4, 5, 5, 3, 1, 2, 2, 1, 3, 4, 5, 4, 2, 1, 1, 3, 5, 3, 4, 2, 1, 4,
            3, 4, 1, 5, 2, 5, 3, 2, 3, 1, 4, 5, 4, 2, 3, 1,
        ],
        mcf_upper: 0.003919807276,
    },
    Design {
        factors: &[8],
        voltage: [
            6, 1, 7, 5, 2, 4, 3, 2, 7, 5, 1, 6, 6, 2, 7, 4, 3, 4, 2, 3, 2, 6, 1, 5, 4, 7, 4, 2, 6, 5, 3, 6,
            7, 4, 3, 1, 1, 2, 5, 7, 5, 3, 6, 2, 7, 4, 1, 3,
        ],
        mcf_upper: 0.002776936478,
    },
    Design {
        factors: &[2, 2, 4],
        voltage: [
            12, 5, 2, 8, 6, 3, 13, 1, 14, 4, 11, 9, 7, 5, 10, 15, 1, 15, 11, 6, 4, 10, 7, 9, 8, 5, 2, 8, 3,
            13, 1, 4, 5, 1, 11, 13, 2, 9, 8, 10, 15, 14, 12, 3, 3, 4, 6, 5,
        ],
        mcf_upper: 0.001220949042,
    },
    Design {
        factors: &[4, 4, 8],
        voltage: [
            32, 107, 59, 90, 17, 85, 3, 70, 61, 33, 31, 120, 39, 65, 52, 73, 54, 119, 127, 7, 60, 101, 55,
            81, 83, 53, 71, 91, 9, 13, 35, 90, 38, 27, 14, 5, 43, 37, 69, 9, 108, 118, 23, 25, 4, 42, 103,
            113,
        ],
        mcf_upper: 0.0001088444424,
    },
];
