//! Terms, each with a definition, a formula and its source.

/// A term that the program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The term, as screens write it.
    pub word: &'static str,
    /// Synonyms; a search for one of them finds this term.
    pub also: &'static [&'static str],
    /// Definition, in one sentence.
    pub sentence: &'static str,
    /// Formula; empty if there is none.
    pub formula: &'static str,
    /// Source: paper and section; empty for common terms of the field.
    pub source: &'static str,
}

impl Term {
    /// Creates a common term of the field, without a source.
    pub const fn new(word: &'static str, sentence: &'static str) -> Self {
        Self { word, also: &[], sentence, formula: "", source: "" }
    }

    /// Sets synonyms of the term.
    #[must_use]
    pub const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// Adds a formula.
    #[must_use]
    pub const fn formula(self, formula: &'static str) -> Self {
        Self { formula, ..self }
    }

    /// Sets the source: paper and section.
    #[must_use]
    pub const fn source(self, source: &'static str) -> Self {
        Self { source, ..self }
    }
}

/// Terms that every kind uses.
pub const TERMS: &[Term] = &[
    Term::new(
        "circuit",
        "An optical connection through a switch between two ports; it carries the rate of one NIC each way.",
    )
    .also(&["circuits", "optical circuit"]),
    Term::new(
        "OCS",
        "An optical circuit switch: it joins its ports in pairs and keeps them joined until it is set \
         again.",
    )
    .also(&["optical circuit switch", "switch"]),
    Term::new("port", "A fibre of a pod that a circuit can end at; a circuit uses one port at each end."),
    Term::new(
        "scenario",
        "A planning problem, such as a job, a pod, a set of switches or a collective, with all of its parameters.",
    ),
    Term::new("plan", "A result of a method for a scenario, with everything needed to check and repeat it."),
    Term::new("objective", "The one figure that plans of a kind are ranked by."),
    Term::new("incumbent", "The best plan that a search has found so far."),
    Term::new(
        "bound",
        "A value that no plan of the scenario can beat. The checker confirms a verified bound; a claimed \
         bound is stated by the method alone.",
    )
    .also(&["lower bound", "upper bound", "verified bound", "claimed"]),
    Term::new("gap", "Relative distance between the objective of a plan and its bound; 0 means proven optimal.")
        .also(&["MIP gap"])
        .formula("|value - bound| / |value|"),
    Term::new(
        "best open node bound",
        "Best bound of the open nodes of branch and bound: the best value that the search could still \
         find.",
    )
    .also(&["next bound"]),
    Term::new("hot start", "Starting a method from a known plan instead of from nothing.")
        .also(&["warm start"]),
    Term::new(
        "relaxation",
        "A problem with some constraints omitted; its optimum bounds the optimum of the full problem.",
    ),
    Term::new("LP", "A linear program: a linear objective and linear constraints on continuous variables.")
        .also(&["linear program"]),
    Term::new(
        "MILP",
        "A mixed-integer linear program: a linear program in which some variables are whole numbers.",
    )
    .also(&["MIP", "integer program"]),
    Term::new("GA", "A genetic algorithm: it improves a population of plans by crossing and mutating them.")
        .also(&["genetic algorithm"]),
    Term::new(
        "solver process",
        "A separate process in which HiGHS solves a model, so that lightbay continues if this process is \
         stopped or crashes.",
    )
    .also(&["helper process"]),
    Term::new("parameter", "A value of a scenario or a method that a person can change.").also(&["knob"]),
    Term::new(
        "reconfiguration",
        "An event within an iteration at which circuits change; a circuit that changes carries nothing until its \
         dark time is over.",
    )
    .also(&["reconfigurations", "switching", "switchings"]),
    Term::new(
        "dark time",
        "Time from the setting of a circuit until it carries traffic, guard time included.",
    )
    .also(&["reconfiguration delay", "switching delay"]),
    Term::new("NIC", "A network card of a GPU; its rate limits each transfer of the GPU, and each circuit.")
        .also(&["network interface card"]),
    Term::new("side", "One of the two sets of ports of a two-sided switch: it connects ports of side A to ports of side B.")
        .also(&["side A", "side B"]),
    Term::new("violation", "A rule of the scenario that a plan breaks, or a wrong figure of the plan, found by the checker.")
        .also(&["violations"]),
    Term::new("baseline", "The plan or method that other plans are compared with.").also(&["baselines"]),
    Term::new("cell", "One combination of parameter values and a method in a sweep: a row of its table.")
        .also(&["cells"]),
    Term::new("sweep", "The same problem solved for several parameter values, with one row of results for each value."),
];

/// Returns the term for a word, ignoring case.
pub fn find<'t>(terms: impl IntoIterator<Item = &'t Term>, word: &str) -> Option<&'t Term> {
    let same = |known: &str| known.eq_ignore_ascii_case(word.trim());
    let mut terms: Vec<&Term> = terms.into_iter().collect();
    // A term's own name has precedence over a synonym of another term.
    terms.sort_by_key(|term| !same(term.word));
    terms.into_iter().find(|term| same(term.word) || term.also.iter().any(|also| same(also)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_any_of_their_names() {
        assert_eq!(find(TERMS, "mip GAP").unwrap().word, "gap");
        assert_eq!(find(TERMS, " ocs ").unwrap().word, "OCS");
        assert_eq!(find(TERMS, "knobs"), None);
    }

    #[test]
    fn no_word_stands_for_two_things() {
        let mut seen = std::collections::BTreeSet::new();
        for word in TERMS.iter().flat_map(|term| term.also.iter().chain([&term.word])) {
            assert!(seen.insert(word.to_lowercase()), "{word}");
        }
    }
}
