//! Boolean functions as reduced ordered decision diagrams. A lane mask is, for one lane, a function of what was true at
//! the loop's header and of the comparisons on the way: diagrams decide exactly which lanes can still be on.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A function: index of a node; 0 is false, 1 is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fun(u32);

pub const FALSE: Fun = Fun(0);
pub const TRUE: Fun = Fun(1);

/// Diagrams larger than this are given up, and so are more variables: the depth of a diagram is the depth of a recursion.
const LIMIT: usize = 1 << 17;
const VARIABLES: u32 = 3000;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    variable: u32,
    low: Fun,
    high: Fun,
}

/// Mixes the few numbers of a key; nothing ever walks through the tables, so their order does not matter.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.write_u32(b.into()));
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(26) ^ u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}

type Table<K> = HashMap<K, Fun, BuildHasherDefault<Mix>>;

#[derive(Default)]
pub struct Bdd {
    nodes: Vec<Node>,
    known: Table<Node>,
    computed: Table<(Fun, Fun, Fun)>,
    variables: u32,
    /// Results are no longer right: whoever asked must give up.
    pub overflow: bool,
}

impl Bdd {
    pub fn new() -> Bdd {
        let end = |f| Node { variable: u32::MAX, low: f, high: f };
        Bdd { nodes: vec![end(FALSE), end(TRUE)], ..Bdd::default() }
    }

    /// A new variable.
    pub fn fresh(&mut self) -> Fun {
        if self.variables >= VARIABLES {
            self.overflow = true;
            return FALSE;
        }
        self.variables += 1;
        self.node(self.variables - 1, FALSE, TRUE)
    }

    fn node(&mut self, variable: u32, low: Fun, high: Fun) -> Fun {
        if low == high {
            return low;
        }
        let node = Node { variable, low, high };
        if let Some(&f) = self.known.get(&node) {
            return f;
        }
        if self.nodes.len() >= LIMIT {
            self.overflow = true;
            return FALSE;
        }
        let f = Fun(self.nodes.len() as u32);
        self.nodes.push(node);
        self.known.insert(node, f);
        f
    }

    /// If `c` then `t` else `e`.
    pub fn ite(&mut self, c: Fun, t: Fun, e: Fun) -> Fun {
        match c {
            TRUE => return t,
            FALSE => return e,
            _ if t == e => return t,
            _ if t == TRUE && e == FALSE => return c,
            _ => {}
        }
        if let Some(&f) = self.computed.get(&(c, t, e)) {
            return f;
        }
        if self.overflow {
            return FALSE;
        }
        let [nc, nt, ne] = [c, t, e].map(|f| self.nodes[f.0 as usize]);
        let variable = nc.variable.min(nt.variable).min(ne.variable);
        let part = |f: Fun, n: Node, high: bool| match n.variable == variable {
            true if high => n.high,
            true => n.low,
            false => f,
        };
        let low = self.ite(part(c, nc, false), part(t, nt, false), part(e, ne, false));
        let high = self.ite(part(c, nc, true), part(t, nt, true), part(e, ne, true));
        let f = self.node(variable, low, high);
        self.computed.insert((c, t, e), f);
        f
    }

    pub fn not(&mut self, a: Fun) -> Fun {
        self.ite(a, FALSE, TRUE)
    }

    pub fn and(&mut self, a: Fun, b: Fun) -> Fun {
        self.ite(a, b, FALSE)
    }

    pub fn or(&mut self, a: Fun, b: Fun) -> Fun {
        self.ite(a, TRUE, b)
    }

    pub fn xor(&mut self, a: Fun, b: Fun) -> Fun {
        let n = self.not(b);
        self.ite(a, n, b)
    }

    /// `a` and not `b`.
    pub fn without(&mut self, a: Fun, b: Fun) -> Fun {
        self.ite(b, FALSE, a)
    }

    /// Whenever `a` holds, `b` does.
    pub fn implies(&mut self, a: Fun, b: Fun) -> bool {
        self.without(a, b) == FALSE && !self.overflow
    }

    /// They cannot both hold.
    pub fn exclude(&mut self, a: Fun, b: Fun) -> bool {
        self.and(a, b) == FALSE && !self.overflow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random formulas over six variables against their truth tables.
    #[test]
    fn functions_are_their_truth_tables() {
        let mut bdd = Bdd::new();
        let mut all: Vec<(Fun, u64)> = vec![(FALSE, 0), (TRUE, !0)];
        for v in 0..6u32 {
            let table = (0..64u64).filter(|row| row >> v & 1 == 1).fold(0, |t, row| t | 1u64 << row);
            all.push((bdd.fresh(), table));
        }
        let mut seed = 1u64;
        for _ in 0..3_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pick = |shift: u32| (seed >> shift) as usize % all.len();
            let ((a, ta), (b, tb), (c, tc)) = (all[pick(20)], all[pick(32)], all[pick(44)]);
            let new = match seed >> 60 & 7 {
                0 => (bdd.and(a, b), ta & tb),
                1 => (bdd.or(a, b), ta | tb),
                2 => (bdd.xor(a, b), ta ^ tb),
                3 => (bdd.without(a, b), ta & !tb),
                4 => (bdd.not(a), !ta),
                _ => (bdd.ite(a, b, c), ta & tb | !ta & tc),
            };
            for &(f, t) in &all {
                assert_eq!(f == new.0, t == new.1, "one diagram for one function");
            }
            assert_eq!(bdd.implies(a, b), ta & !tb == 0);
            assert_eq!(bdd.exclude(a, b), ta & tb == 0);
            if all.len() < 400 {
                all.push(new);
            }
        }
        assert!(!bdd.overflow);
    }

    #[test]
    fn too_many_variables_are_given_up() {
        let mut bdd = Bdd::new();
        let mut all = TRUE;
        for _ in 0..=VARIABLES {
            let f = bdd.fresh();
            all = bdd.and(all, f);
        }
        assert!(bdd.overflow && !bdd.implies(FALSE, TRUE), "nothing is claimed any more");
    }
}
