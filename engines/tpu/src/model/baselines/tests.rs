use super::*;
use crate::model::topology::Topology;
use std::collections::VecDeque;

/// Hop sum over ordered pairs and diameter, the plain way.
fn hops(pod: &Topology) -> (u64, u32) {
    let neighbours = pod.neighbours();
    // Tori look alike from every cube.
    let (mut sum, mut diameter) = (0, 0);
    for source in 0..64 {
        let mut distance = vec![u32::MAX; neighbours.len()];
        distance[source] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(node) = queue.pop_front() {
            for &next in &neighbours[node] {
                if distance[next as usize] == u32::MAX {
                    distance[next as usize] = distance[node] + 1;
                    queue.push_back(next as usize);
                }
            }
        }
        sum += distance.iter().map(|&d| u64::from(d)).sum::<u64>();
        diameter = diameter.max(distance.iter().copied().max().unwrap());
    }
    (sum * pod.cubes() as u64, diameter)
}

fn average(pod: &Topology, sum: u64) -> f64 {
    let n = pod.nodes() as f64;
    sum as f64 / (n * (n - 1.0))
}

#[test]
fn diameters_and_averages_are_the_published_ones() {
    let rows: [([u16; 3], bool, u32, f64); 11] = [
        ([4, 4, 8], false, 8, 4.0315),
        ([4, 4, 8], true, 6, 3.4646),
        ([4, 4, 12], false, 10, 5.0262),
        ([4, 8, 8], false, 10, 5.0196),
        ([4, 4, 16], false, 12, 6.0235),
        ([4, 8, 8], true, 6, 4.3294),
        ([8, 8, 8], false, 12, 6.0117),
        ([8, 8, 16], true, 12, 6.9756),
        ([4, 8, 12], false, 12, 6.0157),
        ([8, 16, 16], true, 12, 8.7230),
        ([16, 16, 32], true, 24, 13.9861),
    ];
    for (shape, twisted, diameter, mean) in rows {
        let pod = if twisted { pdtt(shape) } else { pt(shape) }.unwrap();
        let (sum, far) = hops(&pod);
        assert_eq!(far, diameter, "{shape:?}");
        assert!((average(&pod, sum) - mean).abs() < 5.1e-5, "{shape:?}: {}", average(&pod, sum));
    }
}

#[test]
fn the_order_of_the_axes_does_not_matter() {
    let figures = |shape| hops(&pdtt(shape).unwrap());
    assert_eq!(figures([8, 4, 8]), figures([4, 8, 8]));
    assert_eq!(figures([8, 8, 4]), figures([4, 8, 8]));
    assert_eq!(figures([8, 4, 4]), figures([4, 4, 8]));
    assert_eq!(figures([16, 8, 8]), figures([8, 8, 16]));
}

#[test]
fn the_groups_of_tori_are_groups_and_the_wiring_is_pinned() {
    for shape in [[4, 4, 8], [4, 8, 8], [8, 8, 16], [8, 16, 16]] {
        let pod = pdtt(shape).unwrap();
        let group = &pod.symmetry().unwrap().group;
        assert!(Group::from_table(&group.rows()).is_ok(), "{shape:?}");
        assert!(group.is_abelian());
    }
    // 8x8x16 is 2x2x4 cubes: the wrap of X shifts by two cubes in Z, a step inside does not.
    let pod = pdtt([8, 8, 16]).unwrap();
    assert_eq!((pod.to(0, 0), pod.to(0, 1)), (1, 2 * 4));
    // 4x8x8 is 1x2x2 cubes: the wrap of X shifts by one cube in Y and Z.
    let pod = pdtt([4, 8, 8]).unwrap();
    assert_eq!([0, 1, 2, 3].map(|cube| pod.to(5, cube)), [3, 2, 1, 0]);
    assert_eq!([0, 1, 2, 3].map(|cube| pod.to(20, cube)), [1, 0, 3, 2]);
}

#[test]
fn the_closed_form_gives_the_published_rates() {
    let rows: [([u16; 3], f64); 18] = [
        ([4, 4, 8], 0.0078125),
        ([4, 4, 12], 0.00347),
        ([4, 8, 8], 0.00391),
        ([4, 8, 12], 0.00174),
        ([4, 8, 16], 0.00098),
        ([4, 4, 32], 0.00049),
        ([8, 8, 12], 0.00087),
        ([8, 8, 16], 0.00049),
        ([4, 16, 16], 0.00049),
        ([4, 4, 64], 0.00012),
        ([8, 12, 16], 0.00033),
        ([8, 8, 24], 0.00022),
        ([8, 16, 16], 0.00024),
        ([12, 16, 16], 0.00016),
        ([16, 16, 16], 0.00012),
        ([16, 16, 24], 0.00005),
        ([16, 16, 32], 0.00003),
        ([8, 8, 8], 0.00195),
    ];
    for (shape, published) in rows {
        assert!((pt_mcf(shape) - published).abs() < 5.1e-6, "{shape:?}: {}", pt_mcf(shape));
    }
}

#[test]
fn usual_shapes_are_as_square_as_possible() {
    let shapes = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128].map(usual_shape).map(named);
    let expected = [
        "4x4x4", "4x4x8", "4x4x12", "4x8x8", "4x8x12", "8x8x8", "8x8x12", "8x8x16", "8x12x16", "8x16x16",
        "12x16x16", "16x16x16", "16x16x24", "16x16x32",
    ];
    assert_eq!(shapes, expected);
    assert_eq!(usual_pdtt(2), Some([4, 4, 8]));
    assert_eq!(usual_pdtt(4), Some([4, 8, 8]));
    assert_eq!(usual_pdtt(54), Some([12, 12, 24]));
    assert_eq!(usual_pdtt(108), Some([12, 24, 24]));
    assert_eq!(usual_pdtt(128), Some([16, 16, 32]));
    assert_eq!([1, 3, 6, 8, 64].map(usual_pdtt), [None; 5]);
}

#[test]
fn shapes_that_are_none_are_refused_with_a_way_out() {
    let refused = |shape| pt(shape).unwrap_err().to_string();
    assert!(refused([4, 4, 10]).contains("such as 4x4x12"), "{}", refused([4, 4, 10]));
    assert!(refused([0, 4, 4]).contains("multiple of 4"));
    assert!(refused([64, 64, 64]).contains("too many cubes"));
    let twisted = pdtt([8, 8, 8]).unwrap_err().to_string();
    assert!(twisted.contains("'pt'"), "{twisted}");
    let twisted = pdtt([4, 4, 16]).unwrap_err().to_string();
    assert!(twisted.contains("such as 4x8x8"), "{twisted}");
}
