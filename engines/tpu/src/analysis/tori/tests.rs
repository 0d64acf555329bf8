use super::*;

fn close(a: f64, b: f64, digits: i32) -> bool {
    (a - b).abs() < 0.5 * 10f64.powi(-digits)
}

#[test]
fn tori_of_256_chips_are_those_of_the_published_table() {
    let yard = Tori::of(4, true);
    let (pdtt, pt) = (yard.torus(true).unwrap(), yard.torus(false).unwrap());
    assert_eq!((pdtt.name.as_str(), pt.name.as_str()), ("PDTT 4x8x8", "PT 4x8x8"));
    assert!(close(pdtt.mcf, 0.005_434_8, 7) && close(pt.mcf, 0.003_906_3, 7));
    assert!(close(pdtt.avg_hops, 4.3294, 4) && close(pt.avg_hops, 5.0196, 4));
    assert_eq!((pdtt.diameter, pt.diameter), (6, 10));
    assert!(close(yard.cover, 0.006_624, 6) && close(yard.moore, 0.007_576, 6));
    assert_eq!(yard.best().unwrap().family(), "PDTT");
    // Routes by dimension use the first channel up to the dateline and the second behind it.
    let routes = pt.routes.as_ref().unwrap();
    // Routes of equal length may turn either way, so that the share of the second differs a little.
    let second = routes.hops[1] as f64 / routes.hops.iter().sum::<u64>() as f64;
    assert!(routes.hops.len() == 2 && close(second, 0.249, 2), "{:?}", routes.hops);
    assert_eq!(routes.after.hops(), routes.hops, "counted from the routes");
    assert_eq!(routes.hops.iter().sum::<u64>() as f64, (pt.avg_hops * 256.0 * 255.0).round());
    assert!((256..=258).contains(&routes.most), "{}", routes.most);
}

#[test]
fn sizes_are_per_chip_and_in_order() {
    let rows = sizes(5);
    assert_eq!(rows.len(), SIZES.len() + 1);
    assert!(rows.windows(2).all(|pair| pair[0].chips < pair[1].chips));
    let row = |chips: usize| *rows.iter().find(|row| row.chips == chips).unwrap();
    assert!(close(row(128).pdtt.unwrap(), 1.745, 3) && close(row(128).pt, 1.0, 3));
    assert!(close(row(128).bound, 1.982, 3) && close(row(256).bound, 1.696, 3));
    assert_eq!(row(512).pdtt, None);
    assert!(close(row(1024).pdtt.unwrap(), 0.861, 3));
    assert!(row(320).bound > row(320).pt);
}
