//! Contents of buffers: typed vectors, their bytes, and comparison within a stated tolerance.

/// The contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    U8(Vec<u8>),
    I32(Vec<i32>),
    U32(Vec<u32>),
    F32(Vec<f32>),
}

/// How close a result must come to its reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// Every bit.
    Exact,
    /// |got − wanted| ≤ `abs` + `rel` · |wanted|.
    Near { abs: f64, rel: f64 },
}

/// The first element that is too far away, and how many are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub index: u64,
    pub got: String,
    pub expected: String,
    pub count: u64,
    pub of: u64,
}

impl From<Vec<u8>> for Data {
    fn from(v: Vec<u8>) -> Data {
        Data::U8(v)
    }
}

impl From<Vec<i32>> for Data {
    fn from(v: Vec<i32>) -> Data {
        Data::I32(v)
    }
}

impl From<Vec<u32>> for Data {
    fn from(v: Vec<u32>) -> Data {
        Data::U32(v)
    }
}

impl From<Vec<f32>> for Data {
    fn from(v: Vec<f32>) -> Data {
        Data::F32(v)
    }
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::U8(v) => v.len(),
            Data::I32(v) => v.len(),
            Data::U32(v) => v.len(),
            Data::F32(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name of the element type, as launch files write it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Data::U8(_) => "u8",
            Data::I32(_) => "i32",
            Data::U32(_) => "u32",
            Data::F32(_) => "f32",
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Data::U8(v) => v.clone(),
            Data::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::U32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// Bytes as elements of the same type.
    pub fn like(&self, bytes: &[u8]) -> Data {
        match self {
            Data::U8(_) => Data::U8(bytes.to_vec()),
            Data::I32(_) => Data::I32(to_i32(bytes)),
            Data::U32(_) => Data::U32(to_u32(bytes)),
            Data::F32(_) => Data::F32(to_f32(bytes)),
        }
    }

    /// As many zeros of the same type.
    pub fn zeros(&self) -> Data {
        let n = self.len();
        match self {
            Data::U8(_) => Data::U8(vec![0; n]),
            Data::I32(_) => Data::I32(vec![0; n]),
            Data::U32(_) => Data::U32(vec![0; n]),
            Data::F32(_) => Data::F32(vec![0.0; n]),
        }
    }

    fn show(&self, i: usize) -> String {
        match self {
            Data::U8(v) => v[i].to_string(),
            Data::I32(v) => v[i].to_string(),
            Data::U32(v) => v[i].to_string(),
            Data::F32(v) => format!("{:?}", v[i]),
        }
    }

    fn agrees(&self, want: &Data, i: usize, within: Within) -> bool {
        match (self, want, within) {
            (Data::F32(g), Data::F32(w), Within::Exact) => g[i].to_bits() == w[i].to_bits(),
            (Data::F32(g), Data::F32(w), Within::Near { abs, rel }) => {
                let (g, w) = (f64::from(g[i]), f64::from(w[i]));
                g == w || (g - w).abs() <= abs + rel * w.abs()
            }
            (Data::U8(g), Data::U8(w), _) => g[i] == w[i],
            (Data::I32(g), Data::I32(w), _) => g[i] == w[i],
            (Data::U32(g), Data::U32(w), _) => g[i] == w[i],
            _ => false,
        }
    }

    /// None if all elements are close enough to `want`.
    pub fn compare(&self, want: &Data, within: Within) -> Option<Difference> {
        let of = want.len();
        if self.len() != of {
            let (got, expected) = (format!("{} elements", self.len()), format!("{of} elements"));
            return Some(Difference { index: 0, got, expected, count: of as u64, of: of as u64 });
        }
        let mut wrong = (0..of).filter(|&i| !self.agrees(want, i, within));
        let first = wrong.next()?;
        Some(Difference {
            index: first as u64,
            got: self.show(first),
            expected: want.show(first),
            count: 1 + wrong.count() as u64,
            of: of as u64,
        })
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]])
}

pub fn to_i32(bytes: &[u8]) -> Vec<i32> {
    words(bytes).map(i32::from_le_bytes).collect()
}

pub fn to_u32(bytes: &[u8]) -> Vec<u32> {
    words(bytes).map(u32::from_le_bytes).collect()
}

pub fn to_f32(bytes: &[u8]) -> Vec<f32> {
    words(bytes).map(f32::from_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_found_and_counted() {
        let want = Data::from(vec![1.0f32, 2.0, 3.0]);
        assert_eq!(want.compare(&want, Within::Exact), None);
        let got = Data::from(vec![1.0f32, 2.1, 3.2]);
        let near = Within::Near { abs: 0.0, rel: 0.06 };
        let found = got.compare(&want, near).expect("0.2 of 3 is more than 6 percent");
        assert_eq!((found.index, found.count, found.of), (2, 1, 3));
        assert_eq!(got.compare(&want, Within::Exact).map(|d| d.count), Some(2));
        let nan = Data::from(vec![1.0f32, f32::NAN, 3.0]);
        assert_eq!(nan.compare(&want, near).map(|d| d.index), Some(1), "NaN is close to nothing");
        assert!(Data::from(vec![1u32]).compare(&Data::from(vec![1i32]), near).is_some(), "types count");
        assert!(Data::from(vec![1u32]).compare(&Data::from(vec![1u32, 2]), near).is_some());
    }

    #[test]
    fn bytes_and_back() {
        for data in
            [Data::from(vec![1.5f32, -2.0]), vec![-1i32, 7].into(), vec![9u32].into(), vec![3u8].into()]
        {
            assert_eq!(data.like(&data.bytes()), data);
            assert_eq!(data.zeros().len(), data.len());
        }
    }
}
