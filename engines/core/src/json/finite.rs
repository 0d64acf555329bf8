//! A serialiser that writes nothing and finds the first number that is not finite. This serialiser runs before the
//! actual serialiser, because serde_json silently writes NaN as `null`.

use super::WriteError;
use serde::ser::{self, Serialize};
use std::fmt;

/// Path to the first number that is not finite, as the error of the serialiser.
#[derive(Debug)]
struct Found(Vec<String>);

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not finite")
    }
}
impl std::error::Error for Found {}
impl ser::Error for Found {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(vec![message.to_string()])
    }
}

pub(super) fn check(value: &impl Serialize) -> Result<(), WriteError> {
    value.serialize(Look).map_err(|Found(mut steps)| {
        steps.reverse();
        let mut path = String::new();
        for step in steps {
            if !path.is_empty() && !step.starts_with('[') {
                path.push('.');
            }
            path.push_str(&step);
        }
        WriteError::NotFinite { path }
    })
}

struct Look;

/// Serialiser of a list or map: counts the entries of the list, or remembers the key of the map.
struct Inside {
    index: usize,
    key: String,
}

impl Inside {
    const START: Self = Self { index: 0, key: String::new() };

    fn entry<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        let index = self.index;
        self.index += 1;
        value.serialize(Look).map_err(|mut found| {
            found.0.push(format!("[{index}]"));
            found
        })
    }

    fn field<T: Serialize + ?Sized>(key: &str, value: &T) -> Result<(), Found> {
        value.serialize(Look).map_err(|mut found| {
            found.0.push(key.to_owned());
            found
        })
    }
}

macro_rules! nothing {
    ($($name:ident: $type:ty),*) => { $(fn $name(self, _: $type) -> Result<(), Found> { Ok(()) })* };
}

impl ser::Serializer for Look {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Inside;
    type SerializeTuple = Inside;
    type SerializeTupleStruct = Inside;
    type SerializeTupleVariant = Inside;
    type SerializeMap = Inside;
    type SerializeStruct = Inside;
    type SerializeStructVariant = Inside;

    nothing!(serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_char: char,
        serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str);

    fn serialize_f32(self, value: f32) -> Result<(), Found> {
        self.serialize_f64(f64::from(value))
    }
    fn serialize_f64(self, value: f64) -> Result<(), Found> {
        if value.is_finite() { Ok(()) } else { Err(Found(Vec::new())) }
    }
    fn serialize_none(self) -> Result<(), Found> {
        Ok(())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Found> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Found> {
        Ok(())
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Found> {
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        Inside::field(name, value)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Inside, Found> {
        Ok(Inside::START)
    }
    fn serialize_tuple(self, _: usize) -> Result<Inside, Found> {
        Ok(Inside::START)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Inside, Found> {
        Ok(Inside::START)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Inside, Found> {
        Ok(Inside::START)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Inside, Found> {
        Ok(Inside::START)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Inside, Found> {
        Ok(Inside::START)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Inside, Found> {
        Ok(Inside::START)
    }
}

macro_rules! entries {
    ($($trait:ident :: $method:ident),*) => { $(
        impl ser::$trait for Inside {
            type Ok = ();
            type Error = Found;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
                self.entry(value)
            }
            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        }
    )* };
}
entries!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! fields {
    ($($trait:ident),*) => { $(
        impl ser::$trait for Inside {
            type Ok = ();
            type Error = Found;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Found> {
                Self::field(key, value)
            }
            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        }
    )* };
}
fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Inside {
    type Ok = ();
    type Error = Found;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Found> {
        self.key = serde_json::to_string(key).unwrap_or_default().trim_matches('"').to_owned();
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        Self::field(&self.key, value)
    }
    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}
