//! A register file of an abstract state. Copies share what they have in common, in chunks, and joining what is shared costs
//! nothing: states of neighbouring blocks differ in a few registers.

use std::ops::{Index, IndexMut};
use std::rc::Rc;

const CHUNK: usize = 16;

type Chunk<T> = Rc<[T; CHUNK]>;

/// Its size is a multiple of [`CHUNK`].
#[derive(Clone, Debug)]
pub struct Bank<T>(Rc<Vec<Chunk<T>>>);

impl<T: Copy + PartialEq> Bank<T> {
    pub fn new(value: T, registers: usize) -> Bank<T> {
        // One chunk, shared by all places until they differ.
        let chunk = Rc::new([value; CHUNK]);
        Bank(Rc::new(std::iter::repeat_n(chunk, registers.div_ceil(CHUNK)).collect()))
    }

    pub fn get(&self, n: usize) -> Option<&T> {
        Some(&self.0.get(n / CHUNK)?[n % CHUNK])
    }

    pub fn get_mut(&mut self, n: usize) -> Option<&mut T> {
        Some(&mut Rc::make_mut(Rc::make_mut(&mut self.0).get_mut(n / CHUNK)?)[n % CHUNK])
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flat_map(|chunk| chunk.iter())
    }

    /// All registers get a value.
    pub fn fill(&mut self, value: T) {
        *self = Bank::new(value, self.0.len() * CHUNK);
    }

    /// Every register gets what `f` makes of it and the other bank's; whether one changes. What both share stays as it is, so
    /// `f` must make a value of twice that value.
    pub fn merge(&mut self, other: &Bank<T>, f: impl Fn(T, T) -> T) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        self.update(other, |a, b| !Rc::ptr_eq(a, b), f)
    }

    /// Every register gets what `f` makes of it and another bank's.
    pub fn combine<U>(&mut self, other: &Bank<U>, f: impl Fn(T, U) -> T)
    where
        U: Copy + PartialEq,
    {
        self.update(other, |_, _| true, f);
    }

    fn update<U: Copy + PartialEq>(
        &mut self,
        other: &Bank<U>,
        differs: impl Fn(&Chunk<T>, &Chunk<U>) -> bool,
        f: impl Fn(T, U) -> T,
    ) -> bool {
        let mut changed = false;
        for (i, b) in other.0.iter().enumerate() {
            let Some(a) = self.0.get(i).filter(|a| differs(a, b)) else { continue };
            let new: [T; CHUNK] = std::array::from_fn(|k| f(a[k], b[k]));
            if new != **a {
                changed = true;
                Rc::make_mut(&mut self.0)[i] = Rc::new(new);
            }
        }
        changed
    }
}

impl<T: PartialEq> PartialEq for Bank<T> {
    fn eq(&self, other: &Bank<T>) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
            || self.0.len() == other.0.len()
                && self.0.iter().zip(other.0.iter()).all(|(a, b)| Rc::ptr_eq(a, b) || a == b)
    }
}

impl<T: Eq> Eq for Bank<T> {}

impl<T> Index<usize> for Bank<T> {
    type Output = T;

    fn index(&self, n: usize) -> &T {
        &self.0[n / CHUNK][n % CHUNK]
    }
}

impl<T: Clone> IndexMut<usize> for Bank<T> {
    fn index_mut(&mut self, n: usize) -> &mut T {
        &mut Rc::make_mut(&mut Rc::make_mut(&mut self.0)[n / CHUNK])[n % CHUNK]
    }
}
