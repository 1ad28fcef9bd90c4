//! Ranges: `{ from = 1, to = 8 }` by steps, factors or a number of values.

use crate::value::Value;

/// More values than this are a mistake.
const MOST: usize = 2_000_000;

/// A range as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Range {
    pub from: Number,
    pub to: Number,
    pub step: Option<Number>,
    pub times: Option<Number>,
    pub count: Option<Number>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Default for Number {
    fn default() -> Number {
        Number::Int(0)
    }
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

impl From<Number> for Value {
    fn from(n: Number) -> Value {
        match n {
            Number::Int(n) => Value::Int(n),
            Number::Float(x) => Value::Float(x),
        }
    }
}

type Wrong = (String, &'static str);

impl Range {
    /// Its values; otherwise what is wrong, and what to do.
    pub fn values(&self) -> Result<Vec<Value>, Wrong> {
        let given = [self.step, self.times, self.count].iter().filter(|g| g.is_some()).count();
        if given > 1 {
            let what = "a range goes by one of `step`, `times` and `count`".to_owned();
            return Err((what, "leave out the others"));
        }
        if ![self.from, self.to].iter().all(|n| n.float().is_finite()) {
            return Err(("a range has two ends".to_owned(), "`from` and `to` are numbers"));
        }
        let list = match (self.times, self.count) {
            (Some(times), _) => self.by_factor(times)?,
            (_, Some(count)) => self.by_count(count)?,
            _ => self.by_step(self.step.unwrap_or(Number::Int(1)))?,
        };
        Ok(list.into_iter().map(Value::from).collect())
    }

    fn never(&self, how: &str) -> Wrong {
        let what = format!("this range never gets from {} to {} {how}", self.from.float(), self.to.float());
        (what, "both ends belong to a range: { from = 1, to = 8 }, { from = 8, to = 1, step = -1 }")
    }

    fn too_long() -> Wrong {
        (format!("a range has at most {MOST} values"), "make its steps larger, or give `count`")
    }

    fn by_step(&self, step: Number) -> Result<Vec<Number>, Wrong> {
        if step.float() == 0.0 || !step.float().is_finite() {
            return Err(self.never(&format!("by steps of {}", step.float())));
        }
        if (self.to.float() - self.from.float()) * step.float() < 0.0 {
            return Err(self.never(&format!("by steps of {}", step.float())));
        }
        let count = (self.to.float() - self.from.float()) / step.float();
        if count >= MOST as f64 {
            return Err(Range::too_long());
        }
        Ok(match (self.from, self.to, step) {
            (Number::Int(from), Number::Int(to), Number::Int(step)) => {
                let all = (0_i128..).map(|i| i128::from(from) + i * i128::from(step));
                let inside = |n: &i128| if step > 0 { *n <= i128::from(to) } else { *n >= i128::from(to) };
                all.take_while(inside).map(|n| Number::Int(n as i64)).collect()
            }
            // From the start each time, and a little beyond the end: steps such as 0.1 do not add up exactly.
            (from, _, step) => {
                let last = (count + 1e-9).floor() as usize;
                (0..=last).map(|i| Number::Float(from.float() + i as f64 * step.float())).collect()
            }
        })
    }

    fn by_factor(&self, times: Number) -> Result<Vec<Number>, Wrong> {
        let (from, to, factor) = (self.from.float(), self.to.float(), times.float());
        let grows = factor > 1.0 && from > 0.0 && to >= from;
        let shrinks = factor < 1.0 && factor > 0.0 && to > 0.0 && to <= from;
        if !grows && !shrinks {
            return Err(self.never(&format!("by factors of {factor}")));
        }
        let mut list = Vec::new();
        if let (Number::Int(from), Number::Int(to), Number::Int(times)) = (self.from, self.to, times) {
            let mut n = i128::from(from);
            while n <= i128::from(to) {
                list.push(Number::Int(n as i64));
                n *= i128::from(times);
            }
            return Ok(list);
        }
        let mut x = from;
        while (grows && x <= to * (1.0 + 1e-9)) || (shrinks && x >= to * (1.0 - 1e-9)) {
            list.push(Number::Float(x));
            x *= factor;
            if list.len() > MOST {
                return Err(Range::too_long());
            }
        }
        Ok(list)
    }

    /// Evenly spaced; whole numbers between whole ends.
    fn by_count(&self, count: Number) -> Result<Vec<Number>, Wrong> {
        let Number::Int(count @ 1..) = count else {
            return Err((
                "`count` is a whole number from 1 on".to_owned(),
                "{ from = 1, to = 100, count = 10 }",
            ));
        };
        if count > MOST as i64 {
            return Err(Range::too_long());
        }
        let share = |i: i64| if count == 1 { 0.0 } else { i as f64 / (count - 1) as f64 };
        let at = |i: i64| self.from.float() + share(i) * (self.to.float() - self.from.float());
        let mut list: Vec<Number> = match (self.from, self.to) {
            (Number::Int(_), Number::Int(_)) => {
                (0..count).map(|i| Number::Int(at(i).round() as i64)).collect()
            }
            _ => (0..count).map(|i| Number::Float(at(i))).collect(),
        };
        list.dedup();
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(range: Range) -> String {
        match range.values() {
            Ok(list) => list.iter().map(Value::to_string).collect::<Vec<_>>().join(" "),
            Err((what, _)) => what,
        }
    }

    #[test]
    fn ranges_have_both_ends() {
        let int = |from, to| Range { from: Number::Int(from), to: Number::Int(to), ..Range::default() };
        let n = |n| Some(Number::Int(n));
        assert_eq!(shown(int(1, 4)), "1 2 3 4");
        assert_eq!(shown(Range { step: n(3), ..int(1, 8) }), "1 4 7");
        assert_eq!(shown(Range { step: n(-2), ..int(5, 1) }), "5 3 1");
        assert_eq!(shown(Range { times: n(2), ..int(8, 40) }), "8 16 32");
        assert_eq!(shown(Range { times: Some(Number::Float(0.5)), ..int(8, 1) }), "8 4 2 1");
        assert_eq!(shown(Range { count: n(3), ..int(0, 100) }), "0 50 100");
        assert_eq!(shown(Range { count: n(9), ..int(1, 3) }), "1 2 3");
        let tenth = Range {
            from: Number::Float(0.0),
            to: Number::Float(0.3),
            step: Some(Number::Float(0.1)),
            ..Range::default()
        };
        assert_eq!(tenth.values().map(|v| v.len()), Ok(4));
        assert_eq!(shown(int(7, 7)), "7");
    }

    #[test]
    fn ranges_that_never_end_are_refused() {
        let int = |from, to| Range { from: Number::Int(from), to: Number::Int(to), ..Range::default() };
        let n = |n| Some(Number::Int(n));
        for range in [
            int(4, 1),
            Range { step: n(0), ..int(1, 4) },
            Range { step: n(-1), ..int(1, 4) },
            Range { times: n(1), ..int(1, 4) },
            Range { times: n(2), ..int(0, 4) },
            Range { times: n(2), ..int(4, 1) },
            Range { times: n(-2), ..int(1, 4) },
        ] {
            assert!(shown(range).contains("never gets"), "{range:?}");
        }
        assert!(shown(int(0, i64::MAX)).contains("at most"));
        assert!(shown(Range { step: n(1), times: n(2), ..int(1, 4) }).contains("one of"));
        assert!(shown(Range { to: Number::Float(f64::INFINITY), ..int(1, 4) }).contains("two ends"));
    }
}
