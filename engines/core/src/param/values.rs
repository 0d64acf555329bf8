//! The values that a method is given.

use super::{ParamInfo, ParamValue};
use crate::problem::{Problems, suggestion};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::{BTreeMap, btree_map};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Values of a method's parameters, each valid for its description. Also records which values were read; reads from
/// copies count too.
#[derive(Clone, Debug, Default)]
pub struct Params(BTreeMap<String, Entry>);

#[derive(Clone, Debug)]
struct Entry {
    value: ParamValue,
    read: Arc<AtomicBool>,
}

impl Entry {
    fn of(value: ParamValue) -> Self {
        Self { value, read: Arc::default() }
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = BTreeMap::<String, ParamValue>::deserialize(deserializer)?;
        Ok(Self(values.into_iter().map(|(name, value)| (name, Entry::of(value))).collect()))
    }
}

impl JsonSchema for Params {
    fn schema_name() -> Cow<'static, str> {
        "Params".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = BTreeMap::<String, ParamValue>::json_schema(generator);
        schema.insert(
            "description".to_owned(),
            "Values of a method's parameters, each valid for its description.".into(),
        );
        schema
    }
}

impl Params {
    /// Returns the defaults of `infos`, overridden by `given`. Parameters without default and without a given value are
    /// absent.
    ///
    /// # Errors
    /// All unknown names and invalid values.
    pub fn resolve<'a>(
        infos: &[ParamInfo],
        given: impl IntoIterator<Item = (&'a str, &'a ParamValue)>,
    ) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let mut values: BTreeMap<String, Entry> = infos
            .iter()
            .filter_map(|info| info.default.clone().map(|value| (info.name.to_string(), Entry::of(value))))
            .collect();
        for (name, value) in given {
            match infos.iter().find(|info| info.name == name) {
                None => {
                    let names: Vec<&str> = infos.iter().map(|info| info.name.as_ref()).collect();
                    problems.add(name, "is not a parameter of this method", suggestion(name, &names));
                }
                Some(info) => match info.accept(value) {
                    Ok(value) => {
                        values.insert(name.to_owned(), Entry::of(value));
                    }
                    Err(problem) => problems.push(problem),
                },
            }
        }
        problems.into_result(Self(values))
    }

    /// Returns all values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParamValue)> {
        self.0.iter().map(|(name, entry)| (name.as_str(), &entry.value))
    }

    /// Returns the value of a parameter, and marks it as read.
    pub fn get(&self, name: &str) -> Option<&ParamValue> {
        self.0.get(name).map(|entry| {
            entry.read.store(true, Ordering::Relaxed);
            &entry.value
        })
    }

    /// Sets a value, or replaces it; used for changes during a run.
    pub fn set(&mut self, name: impl Into<String>, value: ParamValue) {
        match self.0.entry(name.into()) {
            btree_map::Entry::Occupied(mut known) => known.get_mut().value = value,
            btree_map::Entry::Vacant(new) => {
                new.insert(Entry::of(value));
            }
        }
    }

    /// Returns the same values, marked as not read.
    #[must_use]
    pub fn unread(&self) -> Self {
        Self(self.0.iter().map(|(name, entry)| (name.clone(), Entry::of(entry.value.clone()))).collect())
    }

    /// Returns the names of the values that differ from the defaults of `infos` but were never read, so they had no
    /// effect.
    pub fn in_vain(&self, infos: &[ParamInfo]) -> Vec<&str> {
        let usual =
            |name: &str| infos.iter().find(|info| info.name == name).and_then(|info| info.default.as_ref());
        let unread = self.0.iter().filter(|(_, entry)| !entry.read.load(Ordering::Relaxed));
        unread
            .filter(|(name, entry)| usual(name) != Some(&entry.value))
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Removes and returns the value of a parameter.
    pub fn remove(&mut self, name: &str) -> Option<ParamValue> {
        self.0.remove(name).map(|entry| entry.value)
    }

    /// Returns the value of a boolean parameter; `false` if the parameter is absent or of another type.
    pub fn bool(&self, name: &str) -> bool {
        matches!(self.get(name), Some(ParamValue::Bool(true)))
    }

    /// Returns the value of a parameter as a whole number; `None` if the parameter is absent or its value is not a
    /// whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(ParamValue::as_i64)
    }

    /// Returns the value of a parameter as a whole number of at least 0; 0 if the parameter is absent, or its value is
    /// negative or not a whole number.
    pub fn count(&self, name: &str) -> usize {
        self.int(name).and_then(|value| usize::try_from(value).ok()).unwrap_or(0)
    }

    /// Returns the value of a parameter as a number; `None` if the parameter is absent or its value is not a number.
    pub fn float(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(ParamValue::as_f64)
    }

    /// Returns a name or text, if given.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(ParamValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns a list of whole numbers, if given; a single number is a list of one.
    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.get(name)? {
            ParamValue::List(values) => values.iter().map(ParamValue::as_i64).collect(),
            value => value.as_i64().map(|value| vec![value]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_and_never_read_is_known_also_through_copies() {
        let infos = [
            ParamInfo::int("population", 2, 10_000, 40, ""),
            ParamInfo::int("generations", 0, 100, 10, ""),
            ParamInfo::bool("min_ports", false, ""),
        ];
        let given = [("population", &ParamValue::Int(3)), ("generations", &ParamValue::Int(7))];
        let params = Params::resolve(&infos, given).expect("valid");
        assert_eq!(params.in_vain(&infos), ["generations", "population"], "defaults are nobody's wish");
        assert_eq!(params.clone().int("population"), Some(3));
        assert_eq!(params.in_vain(&infos), ["generations"]);
        assert_eq!(params.unread().in_vain(&infos).len(), 2);
    }

    #[test]
    fn values_are_written_as_a_map() {
        let mut params = Params::default();
        params.set("population", ParamValue::Int(3));
        let text = serde_json::to_string(&params).expect("written");
        assert_eq!(text, r#"{"population":3}"#);
        assert_eq!(serde_json::from_str::<Params>(&text).expect("read"), params);
    }
}
