//! Ports given and taken, computed from the ports that every job uses.

/// The ports of one job, by its pod positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Ports that the job may use: brought - given + taken.
    pub ports_per_pod: Vec<u32>,
    /// Ports of the job that other jobs use.
    pub given: Vec<u32>,
    /// Ports that the job uses in addition to the ports that it brought.
    pub taken: Vec<u32>,
}

/// Returns the ports that every job gives and takes. A job takes the ports that it uses in addition to the ports that
/// it brought: first spare ports, then ports of the job with the most unused ports; ties go to the job listed first.
///
/// For every job, `own` has the shared pod of its first pod and the ports that the job brought, and `used` has the
/// ports that the job uses; ports are listed by the pods of the job.
pub fn settle(budget: &[u32], own: &[(usize, &[u32])], used: &[Vec<u32>]) -> Vec<Account> {
    let mut accounts: Vec<Account> = own
        .iter()
        .map(|(_, own)| Account {
            ports_per_pod: own.to_vec(),
            given: vec![0; own.len()],
            taken: vec![0; own.len()],
        })
        .collect();
    // Pods are processed one by one, because ports never move between them.
    for (pod, budget) in budget.iter().enumerate() {
        // Jobs that cover the pod: (job, position, brought, used).
        let here: Vec<(usize, usize, u32, u32)> = own
            .iter()
            .zip(used)
            .enumerate()
            .filter_map(|(job, ((first, own), used))| {
                let position = pod.checked_sub(*first)?;
                Some((job, position, *own.get(position)?, *used.get(position)?))
            })
            .collect();
        let brought: u32 = here.iter().map(|(_, _, own, _)| own).sum();
        // Ports that a job uses in addition to its own are taken.
        let mut wanted = 0;
        for &(job, position, own, used) in &here {
            let takes = used.saturating_sub(own);
            accounts[job].taken[position] = takes;
            accounts[job].ports_per_pod[position] += takes;
            wanted += takes;
        }
        // Spare ports of the pod are used first.
        wanted = wanted.saturating_sub(budget.saturating_sub(brought));
        let mut donors = here;
        // Donors in descending order of unused ports.
        donors.sort_by_key(|(job, _, own, used)| (std::cmp::Reverse(own.saturating_sub(*used)), *job));
        for (job, position, own, used) in donors {
            let gives = own.saturating_sub(used).min(wanted);
            accounts[job].given[position] = gives;
            accounts[job].ports_per_pod[position] -= gives;
            wanted -= gives;
        }
    }
    accounts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spare_ports_go_first_then_those_of_who_needs_fewest() {
        // Three jobs on pod 1; the first also has pod 0. 8 + 8 + 4 ports are brought, 2 are spare.
        let own: [(usize, &[u32]); 3] = [(0, &[4, 8]), (1, &[8]), (1, &[4])];
        let used = [vec![4, 7], vec![3], vec![11]];
        let accounts = settle(&[4, 22], &own, &used);
        assert_eq!(accounts[2], Account { ports_per_pod: vec![11], given: vec![0], taken: vec![7] });
        // Seven are wanted, two are spare, and the second job can do without five.
        assert_eq!(accounts[1], Account { ports_per_pod: vec![3], given: vec![5], taken: vec![0] });
        assert_eq!(accounts[0], Account { ports_per_pod: vec![4, 8], given: vec![0, 0], taken: vec![0, 0] });
    }

    #[test]
    fn nothing_moves_where_everybody_has_enough() {
        let own: [(usize, &[u32]); 2] = [(0, &[4, 4]), (0, &[4, 4])];
        for account in settle(&[8, 8], &own, &[vec![4, 2], vec![1, 4]]) {
            assert_eq!((account.given, account.taken), (vec![0, 0], vec![0, 0]));
            assert_eq!(account.ports_per_pod, [4, 4]);
        }
    }
}
