use super::*;
use crate::model::baselines;

#[test]
fn records_give_back_their_pods() {
    for pod in [
        baselines::pt([4, 4, 12]).unwrap(),
        baselines::pdtt([4, 8, 8]).unwrap(),
        Topology::symmetric(Group::dihedral(3).unwrap(), std::array::from_fn(|o| (o % 6) as u16)),
        Topology::general(&vec![vec![1, 2, 0]; 48]).unwrap(),
    ] {
        let again = TopologyRecord::of(&pod).topology().unwrap();
        for switch in 0..SWITCHES {
            assert_eq!(again.state(switch), pod.state(switch));
        }
        assert_eq!(again.symmetry().is_some(), pod.symmetry().is_some());
    }
    let named = |pod: &Topology| {
        TopologyRecord::of(pod).topology().unwrap().symmetry().unwrap().group.name().to_owned()
    };
    assert_eq!(named(&Topology::symmetric(Group::most_square(12), [0; 48])), "Z2 x Z2 x Z3");
    assert_eq!(named(&Topology::symmetric(Group::dihedral(6).unwrap(), [0; 48])), "D6");
}

#[test]
fn damaged_records_are_refused_by_place() {
    let good = TopologyRecord::of(&baselines::pt([4, 8, 8]).unwrap());
    let said = |change: &dyn Fn(&mut TopologyRecord)| {
        let mut record = good.clone();
        change(&mut record);
        record.topology().unwrap_err().to_string()
    };
    assert!(said(&|r| r.ocs.truncate(47)).starts_with("ocs: describes 47"));
    assert!(said(&|r| r.ocs.swap(3, 4)).starts_with("ocs[3]: has id 4"));
    assert!(said(&|r| r.ocs[7].pos = [0, 0]).starts_with("ocs[7]:"));
    assert!(said(&|r| r.ocs[20].to[1] = r.ocs[20].to[0]).starts_with("ocs[20].to: patches cubes"));
    assert!(said(&|r| r.ocs[20].to[1] = 9).contains("cube 9, which does not exist"));
    assert!(said(&|r| r.ocs[20].to.push(0)).starts_with("ocs[20].to: "));
    let symmetry = |change: &dyn Fn(&mut SymmetryRecord)| said(&|r| change(r.symmetry.as_mut().unwrap()));
    assert!(symmetry(&|s| s.table[1][1] = 3).starts_with("symmetry.table: "));
    assert!(symmetry(&|s| s.table.truncate(2)).starts_with("symmetry.table: has 2 rows"));
    assert!(symmetry(&|s| s.voltage.truncate(9)).starts_with("symmetry.voltage: has 9"));
    assert!(symmetry(&|s| s.voltage[4] = 4).starts_with("symmetry.voltage[4]: is 4"));
    assert!(
        symmetry(&|s| s.voltage[40] = 1).starts_with("ocs[40].to: differs from the state that voltage 1")
    );
}

#[test]
fn ratios_of_channels_are_shares() {
    assert_eq!(vc_ratio(&[75, 100]), Some(0.75));
    assert_eq!(vc_ratio(&[0, 0]), None);
    assert_eq!(vc_ratio(&[]), None);
}
