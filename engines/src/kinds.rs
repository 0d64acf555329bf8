//! The list of kinds, and the macros that use it: a new kind is one line of [`kinds!`].

#[cfg(feature = "sample")]
pub mod sample;

/// Declares the macros that repeat code for every kind of the list:
///
/// * `each_kind!(subject, Enum, inner => code)` matches a subject of any kind and runs `code` on its content;
/// * `named_kind!(name, K => code, none)` runs `code` with `K` as the kind of this name, or returns `none` if no kind
///   has it;
/// * `all_kinds!(K => code)` is an array with the result of `code` for every kind `K`, in the order of the list;
/// * `kind_enum!(enum Name of Alias)` declares an enum with a variant for every kind `K`, which contains an `Alias<K>`;
/// * `kind_crates!()` re-exports the crate of every kind under a short name, for the panes of that kind;
/// * `kind_variants!()` implements [`crate::subject::Variants`] for every kind.
///
/// A `cfg` condition in brackets in front of a kind decides whether the kind is compiled.
///
/// `$d` represents the sign `$`, which a macro cannot write into another macro.
macro_rules! kinds {
    ($d:tt $($(#[doc = $doc:literal])* $([$only:meta])? $variant:ident = $($home:ident)::+ as $short:ident;)*) => {
        macro_rules! each_kind {
            ($d subject:expr, $d enum:ident, $d inner:ident => $d body:expr) => {
                match $d subject {
                    $($(#[cfg($only)])? $d enum::$variant($d inner) => $d body,)*
                }
            };
        }

        macro_rules! named_kind {
            ($d name:expr, $d of:ident => $d body:expr, $d none:expr) => {
                match $d name {
                    $($(#[cfg($only)])? <$($home)::+::$variant as lightbay_core::kind::Kind>::NAME => {
                        type $d of = $($home)::+::$variant;
                        $d body
                    })*
                    _ => $d none,
                }
            };
        }

        macro_rules! all_kinds {
            ($d of:ident => $d body:expr) => {
                [$($(#[cfg($only)])? {
                    type $d of = $($home)::+::$variant;
                    $d body
                }),*]
            };
        }

        macro_rules! kind_variants {
            () => {
                $($(#[cfg($only)])? impl crate::subject::Variants for $($home)::+::$variant {
                    fn scenario(scenario: Arc<Scenario<Self>>) -> AnyScenario {
                        AnyScenario::$variant(scenario)
                    }

                    fn plan(plan: Arc<Checked<Self>>) -> AnyPlan {
                        AnyPlan::$variant(plan)
                    }

                    fn draft(draft: Box<Draft<Self>>) -> AnyDraft {
                        AnyDraft::$variant(draft)
                    }
                })*
            };
        }

        macro_rules! kind_crates {
            () => {
                $($(#[cfg($only)])? pub use $($home)::+ as $short;)*
            };
        }

        macro_rules! kind_enum {
            ($d(#[$d meta:meta])* $d vis:vis enum $d name:ident of $d of:ident) => {
                $d(#[$d meta])*
                $d vis enum $d name {
                    $($(#[doc = $doc])* $(#[cfg($only)])? $variant($d of<$($home)::+::$variant>),)*
                }
            };
        }
    };
}

kinds! { $
    /// Circuits between the pods of a training job.
    Training = lightbay_training as training;
    /// Topology and routes of a TPU pod.
    Tpu = lightbay_tpu as tpu;
    /// Cross-connects of optical circuit switches.
    Crossconnect = lightbay_crossconnect as crossconnect;
    /// Regional circuits of MoE training.
    Moe = lightbay_moe as moe;
    /// Schedules of collective communication.
    Collective = lightbay_collective as collective;
    /// Transfers that share a link.
    [feature = "sample"] Sample = crate::kinds::sample as sample;
}
