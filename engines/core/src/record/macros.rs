//! The macros that declare records and enums of files.

/// Declares a struct that represents a JSON object: each field with its doc comment, its type and, after `=`, its
/// [`Spec`](crate::record::Spec). The doc comment is also the help of the parameter and the description in the schema.
///
/// Keys after `ignoring` are allowed and ignored. If the written form of a field depends on other fields, the function
/// after `written by` writes the struct.
///
/// The macro implements the reader ([`Record`](crate::record::Record)), `Serialize` and `JsonSchema`. A field without a
/// default must be in the file, unless its type is an `Option`.
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),+ $(,)?)])?
        pub struct $name:ident $(, ignoring $($ignored:literal),+)? $(, written by $write:path)? {
            $( $(#[doc = $doc:literal])+ pub $key:ident : $type:ty = $spec:expr ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq $($(, $derive)+)?)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $key: $type, )+
        }

        impl $crate::record::Record for $name {
            const KEYS: &'static [&'static str] = &[$(stringify!($key)),+];

            fn of_fields(
                fields: &mut $crate::read::Fields<'_>,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                $( $( fields.skip($ignored); )+ )?
                $( let $key = $crate::record::Spec::<$type>::read($spec, stringify!($key), fields, problems); )+
                Some(Self { $( $key: $key?, )+ })
            }

            fn describe(
                generator: &mut ::schemars::SchemaGenerator,
                properties: &mut ::serde_json::Map<String, ::serde_json::Value>,
                required: &mut Vec<::serde_json::Value>,
            ) {
                $( $( properties.insert($ignored.to_owned(), true.into()); )+ )?
                $(
                    let spec: $crate::record::Spec<$type> = $spec;
                    if spec.is_required() {
                        required.push(stringify!($key).into());
                    }
                    let former = spec.former();
                    let schema = spec.schema(generator, concat!($($doc),+));
                    if let Some(former) = former {
                        properties.insert(former.to_owned(), schema.clone().into());
                    }
                    properties.insert(stringify!($key).to_owned(), schema.into());
                )+
            }

            fn param(key: &str) -> Option<$crate::param::ParamInfo> {
                match key {
                    $( stringify!($key) => {
                        $crate::record::Spec::<$type>::param($spec, stringify!($key), concat!($($doc),+))
                    } )+
                    _ => None,
                }
            }

            fn field(&self, key: &str) -> Option<$crate::param::ParamValue> {
                match key {
                    $( stringify!($key) => $crate::record::FieldType::shown(&self.$key), )+
                    _ => None,
                }
            }

            fn set_field(&mut self, key: &str, value: &$crate::param::ParamValue) -> Option<()> {
                match key {
                    $( stringify!($key) => self.$key = $crate::record::FieldType::taken(value)?, )+
                    _ => return None,
                }
                Some(())
            }
        }

        impl $crate::record::FieldType for $name {
            fn read(
                value: &::serde_json::Value,
                place: &$crate::record::Place<'_>,
                _range: $crate::record::NumberRange,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                let mut fields = $crate::read::Fields::of(value, &place.to_string(), problems)?;
                let record = <Self as $crate::record::Record>::of_fields(&mut fields, problems);
                fields.finish(problems);
                record
            }

            fn schema(generator: &mut ::schemars::SchemaGenerator, _range: $crate::record::NumberRange) -> ::schemars::Schema {
                generator.subschema_for::<Self>()
            }
        }

        $crate::record!(@serialize $name [$($write)?] { $( $key: $type = $spec, )+ });

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                // Other modules may have a type of the same name.
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                $crate::record::schema_of::<Self>(generator, concat!($($about),+))
            }
        }
    };

    (@serialize $name:ident [] { $( $key:ident : $type:ty = $spec:expr, )+ }) => {
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $(
                    if !$crate::record::Spec::<$type>::omits($spec, &self.$key) {
                        map.serialize_entry(stringify!($key), &self.$key)?;
                    }
                )+
                map.end()
            }
        }
    };

    (@serialize $name:ident [$write:path] { $( $key:ident : $type:ty = $spec:expr, )+ }) => {
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $write(self, serializer)
            }
        }
    };
}

/// Declares an enum whose variants have a name in files: `ALL` lists the variants, `word` returns the name of a
/// variant.
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $word:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $name {
            /// All variants, with their names in files.
            pub const ALL: [(&'static str, Self); [$($word),+].len()] = [$(($word, Self::$variant)),+];

            /// Returns the name of the variant in files.
            pub const fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }

            /// Returns the variant with this name in files.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, variant)| *variant)
            }
        }

        impl $crate::record::FieldType for $name {
            fn read(
                value: &::serde_json::Value,
                place: &$crate::record::Place<'_>,
                _range: $crate::record::NumberRange,
                problems: &mut $crate::problem::Problems,
            ) -> Option<Self> {
                $crate::read::choice_at(value, place, &Self::ALL, problems)
            }

            fn schema(generator: &mut ::schemars::SchemaGenerator, _range: $crate::record::NumberRange) -> ::schemars::Schema {
                generator.subschema_for::<Self>()
            }

            fn domain(_range: $crate::record::NumberRange) -> Option<$crate::param::Domain> {
                Some($crate::param::Domain::Choice { names: vec![$($word.into()),+] })
            }

            fn shown(&self) -> Option<$crate::param::ParamValue> {
                Some($crate::param::ParamValue::Text(self.word().to_owned()))
            }

            fn taken(value: &$crate::param::ParamValue) -> Option<Self> {
                match value {
                    $crate::param::ParamValue::Text(word) => Self::of_word(word),
                    _ => None,
                }
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl ::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                // Other modules may have a type of the same name.
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(_generator: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                ::schemars::json_schema!({
                    "description": concat!($($about),+).trim(),
                    "oneOf": [$({ "const": $word, "description": concat!($($doc),+).trim() }),+],
                })
            }
        }
    };
}
