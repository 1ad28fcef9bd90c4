//! What was published, what was measured, and how near they are: reproduced, the shape only, or different. A number
//! counts as reproduced within a tolerance that is printed; what misses it says why, or is a fault of ours.

use serde::{Deserialize, Serialize};

/// What a measured value must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Want<'a> {
    /// Exactly this text.
    Text(&'a str),
    /// This number, at most the share `within` away from it.
    Near {
        value: f64,
        within: f64,
    },
    AtLeast(f64),
    AtMost(f64),
    /// The document says so much at least, or at most; `why` says why it is another one here.
    LeastOr {
        least: f64,
        why: &'a str,
    },
    MostOr {
        most: f64,
        why: &'a str,
    },
    /// The document prints this number. At most the share `within` away from it, it is reproduced; otherwise `shape`
    /// is what has to hold, and `why` says where the rest is.
    Printed {
        number: f64,
        within: f64,
        shape: Shape,
        why: &'a str,
    },
    /// The document prints this text. What comes out here is `ours`, and `why` says why it is another one.
    Other {
        printed: &'a str,
        ours: &'a str,
        why: &'a str,
    },
    /// Anything: shown for information.
    Any,
}

/// What is left of a published number that is not met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    AtLeast(f64),
    AtMost(f64),
    /// Nothing: the number differs, for the reason that is given.
    None,
}

/// How near ours is to what was published.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The published number, within the tolerance that is printed beside it, or the published relation.
    Reproduced,
    /// The published relation holds, the published number is not met.
    ShapeOnly,
    Differs,
}

impl Verdict {
    pub const ALL: [Verdict; 3] = [Verdict::Reproduced, Verdict::ShapeOnly, Verdict::Differs];

    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::ShapeOnly => "shape only",
            Verdict::Differs => "differs",
        }
    }

    pub fn mark(self) -> &'static str {
        match self {
            Verdict::Reproduced => "✓",
            Verdict::ShapeOnly => "~",
            Verdict::Differs => "✗",
        }
    }
}

/// A verdict with its reason; an unmet expectation for which none was written down has an empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged<'a> {
    pub verdict: Verdict,
    pub why: &'a str,
}

/// One line of the published side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published<'a> {
    pub quantity: &'a str,
    /// The document's words or numbers; may be empty where [`Want`] says it all.
    pub says: &'a str,
    pub want: Want<'a>,
}

impl<'a> Published<'a> {
    /// A number that the document prints ([`Want::Printed`]).
    pub const fn number(quantity: &'a str, number: f64, within: f64, shape: Shape, why: &'a str) -> Self {
        Published { quantity, says: "", want: Want::Printed { number, within, shape, why } }
    }
}

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    /// Judged as it is shown: rounded to `decimals`.
    Number {
        value: f64,
        decimals: usize,
        unit: &'static str,
    },
}

impl Value {
    pub fn show(&self) -> String {
        match self {
            Value::Text(text) => text.clone(),
            Value::Number { value, decimals, unit } => format!("{value:.decimals$}{unit}"),
        }
    }

    pub fn unit(&self) -> &'static str {
        match self {
            Value::Text(_) => "",
            Value::Number { unit, .. } => unit,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Text(_) => None,
            Value::Number { value, decimals, .. } => format!("{value:.decimals$}").parse().ok(),
        }
    }
}

impl Want<'_> {
    pub fn show(&self, unit: &str) -> String {
        match self {
            Want::Text(text) => (*text).to_owned(),
            Want::Near { value, within } => format!("{value}{unit} ± {:.0} %", within * 100.0),
            Want::AtLeast(value) => format!("≥ {value}{unit}"),
            Want::AtMost(value) => format!("≤ {value}{unit}"),
            Want::LeastOr { least, .. } => format!("≥ {least}{unit}"),
            Want::MostOr { most, .. } => format!("≤ {most}{unit}"),
            Want::Printed { number, within: 0.0, .. } => format!("{number}{unit}"),
            Want::Printed { number, within, .. } => format!("{number}{unit} ± {:.0} %", within * 100.0),
            Want::Other { printed, .. } => (*printed).to_owned(),
            Want::Any => String::new(),
        }
    }

    /// It is what the document prints, not what we expect.
    pub fn is_printed(&self) -> bool {
        matches!(self, Want::Printed { .. } | Want::Other { .. } | Want::Any)
    }

    /// None: nothing is judged.
    pub fn judge(&self, value: &Value) -> Option<Judged<'_>> {
        let number = value.number();
        let near = |to: f64, within: f64| number.is_some_and(|n| (n - to).abs() <= within * to.abs());
        let least = |least: f64| number.is_some_and(|n| n >= least);
        let most = |most: f64| number.is_some_and(|n| n <= most);
        let is = |holds: bool| match holds {
            true => Judged { verdict: Verdict::Reproduced, why: "" },
            false => Judged { verdict: Verdict::Differs, why: "" },
        };
        // What is not a number is no difference that a reason explains.
        let known = |holds: bool, why| match number.is_some_and(|n| !n.is_nan()) {
            true if !holds => Judged { verdict: Verdict::Differs, why },
            _ => is(holds),
        };
        Some(match *self {
            Want::Text(text) => is(value.show() == text),
            Want::Near { value, within } => is(near(value, within)),
            Want::AtLeast(bound) => is(least(bound)),
            Want::AtMost(bound) => is(most(bound)),
            Want::LeastOr { least: bound, why } => known(least(bound), why),
            Want::MostOr { most: bound, why } => known(most(bound), why),
            Want::Printed { number: printed, within, shape, why } => match shape {
                _ if near(printed, within) => is(true),
                Shape::AtLeast(bound) if least(bound) => Judged { verdict: Verdict::ShapeOnly, why },
                Shape::AtMost(bound) if most(bound) => Judged { verdict: Verdict::ShapeOnly, why },
                Shape::AtLeast(_) | Shape::AtMost(_) => is(false),
                Shape::None if number.is_some_and(|n| !n.is_nan()) => {
                    Judged { verdict: Verdict::Differs, why }
                }
                Shape::None => is(false),
            },
            Want::Other { printed, .. } if value.show() == printed => is(true),
            Want::Other { ours, why, .. } if value.show() == ours => {
                Judged { verdict: Verdict::Differs, why }
            }
            Want::Other { .. } => is(false),
            Want::Any => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(want: Want, value: f64) -> Option<Verdict> {
        want.judge(&Value::Number { value, decimals: 2, unit: "" }).map(|j| j.verdict)
    }

    const YES: Option<Verdict> = Some(Verdict::Reproduced);
    const NO: Option<Verdict> = Some(Verdict::Differs);

    #[test]
    fn numbers_are_judged_as_shown() {
        assert_eq!(verdict(Want::AtMost(1.24), 1.2449), YES);
        assert_eq!(verdict(Want::AtMost(1.24), 1.2451), NO);
        assert_eq!(verdict(Want::AtLeast(0.85), 0.85), YES);
        assert_eq!(verdict(Want::Near { value: 2.0, within: 0.1 }, 1.79), NO);
        assert_eq!(verdict(Want::Near { value: 2.0, within: 0.1 }, 2.19), YES);
        assert_eq!(verdict(Want::Text("2"), 2.0), NO);
        assert_eq!(verdict(Want::Any, f64::NAN), None);
        assert_eq!(verdict(Want::AtLeast(0.0), f64::NAN), NO);
    }

    #[test]
    fn a_printed_number_is_met_or_its_shape_is_or_it_differs() {
        let printed = |shape| Want::Printed { number: 1.11, within: 0.05, shape, why: "because" };
        assert_eq!(verdict(printed(Shape::AtLeast(1.0)), 1.10), YES);
        assert_eq!(verdict(printed(Shape::AtLeast(1.0)), 1.03), Some(Verdict::ShapeOnly));
        assert_eq!(verdict(printed(Shape::AtLeast(1.0)), 0.99), NO);
        assert_eq!(verdict(printed(Shape::AtMost(1.5)), 1.4), Some(Verdict::ShapeOnly));
        assert_eq!(verdict(printed(Shape::None), 3.0), NO);
        let why = |shape, value| {
            let value = Value::Number { value, decimals: 2, unit: "" };
            printed(shape).judge(&value).map(|j| j.why.to_owned())
        };
        assert_eq!(why(Shape::None, 3.0).as_deref(), Some("because"));
        assert_eq!(why(Shape::None, f64::NAN).as_deref(), Some(""), "nothing explains that");
        assert_eq!(why(Shape::AtLeast(1.0), 0.5).as_deref(), Some(""), "the shape must hold");
    }

    #[test]
    fn a_limit_that_is_missed_has_its_reason() {
        let judge = |want: Want, value: f64| {
            let value = Value::Number { value, decimals: 1, unit: "" };
            want.judge(&value).map(|j| (j.verdict, j.why.to_owned()))
        };
        let most = Want::MostOr { most: 15.0, why: "because" };
        assert_eq!(judge(most, 15.0), Some((Verdict::Reproduced, String::new())));
        assert_eq!(judge(most, 24.0), Some((Verdict::Differs, "because".into())));
        assert_eq!(judge(most, f64::NAN), Some((Verdict::Differs, String::new())));
        let least = Want::LeastOr { least: 0.9, why: "because" };
        assert_eq!(judge(least, 0.8), Some((Verdict::Differs, "because".into())));
        assert_eq!(judge(least, 0.9), Some((Verdict::Reproduced, String::new())));
    }

    #[test]
    fn a_known_difference_is_explained_and_another_one_is_not() {
        let want = Want::Other { printed: "52 49 47", ours: "52 49 51", why: "because" };
        let judge = |text: &str| want.judge(&Value::Text(text.into())).map(|j| (j.verdict, j.why));
        assert_eq!(judge("52 49 47"), Some((Verdict::Reproduced, "")));
        assert_eq!(judge("52 49 51"), Some((Verdict::Differs, "because")));
        assert_eq!(judge("52 49 50"), Some((Verdict::Differs, "")));
    }
}
