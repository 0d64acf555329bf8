//! Other configurations of a scenario, written as the values of some of its parameters.

use super::TrainingScenario;
use lightbay_core::param::Setting;
use lightbay_core::problem::Problem;
use std::collections::BTreeMap;

/// Maximum number of configurations of one list.
const MOST: usize = 64;

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Values of the configuration: `seq=8192`, or `seq=8192 bandwidth_gbps=200`.
    pub name: String,
    /// The scenario with these values.
    pub scenario: TrainingScenario,
}

impl TrainingScenario {
    /// The configurations that `text` names: parameters with lists of values, such as `seq=2048,8192`. Several
    /// parameters are joined with `;` and give every combination. The present scenario is included only if its own
    /// values are among them.
    ///
    /// # Errors
    /// The problem of the text or of one of the configurations.
    pub fn variants(&self, text: &str) -> Result<Vec<Variant>, Problem> {
        let mut variants = vec![Variant { name: String::new(), scenario: self.clone() }];
        let mut knobs: Vec<&str> = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((knob, values)) = part.split_once('=') else {
                let remedy = "write a parameter and its values, such as seq=2048,8192";
                return Err(Problem::new("robust", format!("has '{part}' without '='"), remedy));
            };
            let (knob, values) = (knob.trim(), values.split(',').map(str::trim));
            knobs.push(knob);
            let mut next = Vec::new();
            for value in values {
                for variant in &variants {
                    let mut scenario = variant.scenario.clone();
                    scenario.apply(&Setting {
                        name: knob.to_owned(),
                        index: None,
                        text: value.to_owned(),
                    })?;
                    let gap = if variant.name.is_empty() { "" } else { " " };
                    next.push(Variant { name: format!("{}{gap}{knob}={value}", variant.name), scenario });
                }
                if next.len() > MOST {
                    return Err(Problem::new(
                        "robust",
                        format!("names more than {MOST} configurations"),
                        "name fewer values",
                    ));
                }
            }
            variants = next;
        }
        if variants.iter().any(|variant| variant.name.is_empty()) {
            return Err(Problem::new(
                "robust",
                "names no parameter",
                "write a parameter and its values, such as seq=2048,8192",
            ));
        }
        differ(&variants, &knobs)?;
        Ok(variants)
    }
}

/// Checks that every parameter has an effect and that no two configurations are equivalent; otherwise the worst case
/// over the configurations would seem to cover more different configurations than it does.
fn differ(variants: &[Variant], knobs: &[&str]) -> Result<(), Problem> {
    let mut asked: BTreeMap<String, &str> = BTreeMap::new();
    for Variant { name, scenario } in variants {
        if let Some(idle) = scenario.idle().into_iter().find(|problem| knobs.contains(&problem.path.as_str()))
        {
            return Err(idle.under("robust"));
        }
        if let Some(question) = scenario.question()
            && let Some(other) = asked.insert(question, name)
        {
            return Err(Problem::new(
                "robust",
                format!("names {other} and {name}, which give the same plans"),
                "leave one of the two out",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

    use super::*;
    use crate::scenario::presets;
    use lightbay_core::param::ParamValue;

    #[test]
    fn values_of_several_knobs_are_combined() {
        let scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
        let variants = scenario.variants("seq=2048, 8192; bandwidth_gbps=200").unwrap();
        let names: Vec<&str> = variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["seq=2048 bandwidth_gbps=200", "seq=8192 bandwidth_gbps=200"]);
        assert_eq!(variants[1].scenario.get("seq"), Some(ParamValue::Int(8192)));
        assert_eq!(variants[1].scenario.get("bandwidth_gbps"), Some(ParamValue::Float(200.0)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let scenario = TrainingScenario::Job(presets::job("tiny4").unwrap().job());
        let wrong = |text: &str| scenario.variants(text).unwrap_err().to_string();
        assert!(wrong("seq").contains("without '='"));
        assert!(wrong(";").contains("names no parameter"));
        assert!(wrong("sequence=4").contains("not a parameter of this scenario"));
        assert!(wrong("seq=many").contains("seq"));
        let many: Vec<String> = (1..100).map(|n| (n * 128).to_string()).collect();
        assert!(wrong(&format!("seq={}", many.join(","))).contains("more than 64"));
    }
}
