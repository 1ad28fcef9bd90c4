//! Arrays in files: `.npy` (NumPy) and raw little-endian bytes.

use super::element::Element;
use super::npy;
use crate::error::{JobError, refused};
use std::path::Path;
use wb_files::Kind;

/// Elements with their type and shape, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub element: Element,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

const TYPES: [(&str, Element); 11] = [
    ("|u1", Element::Unsigned(1)),
    ("|i1", Element::Signed(1)),
    ("<u2", Element::Unsigned(2)),
    ("<i2", Element::Signed(2)),
    ("<u4", Element::Unsigned(4)),
    ("<i4", Element::Signed(4)),
    ("<u8", Element::Unsigned(8)),
    ("<i8", Element::Signed(8)),
    ("<f2", Element::F16),
    ("<f4", Element::F32),
    ("<f8", Element::F64),
];

pub fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "npy")
}

impl Array {
    /// Reads `.npy`; any other file is raw bytes of `element` (bytes if none is given).
    pub fn read(path: &Path, element: Option<Element>) -> Result<Array, JobError> {
        let bytes = wb_files::read(path, Kind::Data)?;
        if is_npy(path) {
            return Array::from_npy(&bytes).map_err(|e| e.within(path.display().to_string()));
        }
        let element = element.unwrap_or(Element::Unsigned(1));
        let count = bytes.len() as u64 / element.bytes();
        if count * element.bytes() != bytes.len() as u64 {
            return Err(refused!(
                Data,
                "{} has {} bytes, which is not a multiple of {}",
                path.display(),
                bytes.len(),
                element.bytes()
            ));
        }
        Ok(Array { element, shape: vec![count], bytes })
    }

    pub fn from_npy(bytes: &[u8]) -> Result<Array, JobError> {
        let (header, rest) = npy::Header::read(bytes).map_err(|e| refused!(Data, "not a .npy file: {e}"))?;
        let element = TYPES.iter().find(|t| t.0 == header.descr).map(|t| t.1).ok_or_else(|| {
            refused!(
                Data,
                help = format!("types: {}", Element::NAMES),
                "arrays of type {} are not supported",
                header.descr
            )
        })?;
        if header.fortran && header.shape.len() > 1 {
            return Err(refused!(
                Data,
                help = "save it with numpy.ascontiguousarray",
                "the array is in column-major (Fortran) order"
            ));
        }
        let shape = header.shape;
        let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        let wanted = count.and_then(|n| n.checked_mul(element.bytes()));
        if wanted != Some(rest.len() as u64) {
            return Err(refused!(
                Data,
                "the file has {} bytes of data, its header says otherwise",
                rest.len()
            ));
        }
        Ok(Array { element, shape, bytes: rest.to_vec() })
    }

    pub fn to_npy(&self) -> Vec<u8> {
        let same = |t: &&(&str, Element)| match (t.1, self.element) {
            (a, Element::Word(n)) => a == Element::Unsigned(n),
            (a, b) => a == b,
        };
        let descr = TYPES.iter().find(same).map_or("|u1", |t| t.0).to_owned();
        let mut out = npy::Header { descr, fortran: false, shape: self.shape.clone() }.write();
        out.extend_from_slice(&self.bytes);
        out
    }

    /// Writes `.npy`, or raw bytes to any other name.
    pub fn write(&self, path: &Path) -> Result<(), JobError> {
        match is_npy(path) {
            true => wb_files::write(path, self.to_npy())?,
            false => wb_files::write(path, &self.bytes)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npy_round_trip_of_every_type() {
        for (name, element) in TYPES {
            let bytes: Vec<u8> = (0..6 * element.bytes() as u8).collect();
            let array = Array { element, shape: vec![2, 3], bytes };
            let file = array.to_npy();
            assert!(file.starts_with(b"\x93NUMPY"), "{name}");
            assert_eq!(Array::from_npy(&file).expect("array"), array, "{name}");
            assert!(Array::from_npy(&file[..file.len() - 1]).is_err(), "{name} cut");
        }
        assert!(Array::from_npy(b"nothing").is_err());
    }
}
