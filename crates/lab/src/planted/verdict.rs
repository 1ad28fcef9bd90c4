//! What a checker's reports are worth: the planted error at its line, something else, or nothing.

use super::corpus::Case;
use serde::Serialize;
use wb_sanitize::Kind;

/// One report of a checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// In the words of [`Kind::name`]; a checker may know kinds that nobody planted.
    pub kind: String,
    /// Line of the source.
    pub line: Option<u32>,
}

/// What a checker did with a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The planted error, at its line.
    Found,
    /// A right kernel, and no report.
    Clean,
    Missed,
    /// The planted kind, at another line.
    WrongLine,
    /// Reports, but none of the planted kind: these.
    WrongKind(Vec<String>),
    /// A right kernel with reports of these kinds.
    False(Vec<String>),
    /// The checker has not what the kernel needs.
    NotComparable,
    /// The checker crashed, or its run failed.
    Failed(String),
    /// Not done within the time limit.
    Hung,
    /// The checker is not there.
    NotRun,
}

impl Verdict {
    pub fn of(case: &Case, found: &[Finding]) -> Verdict {
        let mut kinds: Vec<String> = found.iter().map(|f| f.kind.clone()).collect();
        kinds.sort();
        kinds.dedup();
        let Some(planted) = case.planted.map(Kind::name) else {
            return if kinds.is_empty() { Verdict::Clean } else { Verdict::False(kinds) };
        };
        let mut right = found.iter().filter(|f| f.kind == planted).peekable();
        if right.peek().is_some() {
            let at_line = right.any(|f| f.line.is_some_and(|line| case.lines.contains(&line)));
            return if at_line { Verdict::Found } else { Verdict::WrongLine };
        }
        if kinds.is_empty() { Verdict::Missed } else { Verdict::WrongKind(kinds) }
    }

    /// Whether it is as it should be.
    pub fn good(&self) -> bool {
        matches!(self, Verdict::Found | Verdict::Clean)
    }

    pub fn text(&self) -> String {
        match self {
            Verdict::Found => "found".to_owned(),
            Verdict::Clean => "clean".to_owned(),
            Verdict::Missed => "MISSED".to_owned(),
            Verdict::WrongLine => "WRONG LINE".to_owned(),
            Verdict::WrongKind(kinds) => format!("WRONG KIND: {}", kinds.join(", ")),
            Verdict::False(kinds) => format!("FALSE: {}", kinds.join(", ")),
            Verdict::NotComparable => "not comparable".to_owned(),
            Verdict::Failed(why) => format!("FAILED: {}", why.replace('\n', " ")),
            Verdict::Hung => "HUNG".to_owned(),
            Verdict::NotRun => "-".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planted::cases;

    #[test]
    fn a_report_counts_only_with_the_planted_kind_and_line() {
        let all = cases().unwrap_or_else(|e| panic!("{e}"));
        let case =
            |kind: Option<Kind>| all.iter().find(|c| c.planted == kind).unwrap_or_else(|| panic!("{kind:?}"));
        let (race, clean) = (case(Some(Kind::Race)), case(None));
        let finding = |kind: &str, line| Finding { kind: kind.to_owned(), line };
        let line = race.lines.first().copied();
        assert_eq!(Verdict::of(race, &[finding("race", line)]), Verdict::Found);
        assert_eq!(Verdict::of(race, &[finding("race", Some(1)), finding("race", line)]), Verdict::Found);
        assert_eq!(Verdict::of(race, &[finding("race", Some(1))]), Verdict::WrongLine);
        assert_eq!(Verdict::of(race, &[finding("race", None)]), Verdict::WrongLine);
        assert_eq!(
            Verdict::of(race, &[finding("misaligned", line)]),
            Verdict::WrongKind(vec!["misaligned".into()])
        );
        assert_eq!(Verdict::of(race, &[]), Verdict::Missed);
        assert_eq!(Verdict::of(clean, &[]), Verdict::Clean);
        assert_eq!(Verdict::of(clean, &[finding("race", None)]), Verdict::False(vec!["race".into()]));
    }
}
