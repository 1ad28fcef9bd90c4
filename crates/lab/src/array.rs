//! Arrays in files: `.npy` (NumPy) and raw little-endian bytes.

use crate::views::Element;
use miette::{IntoDiagnostic, Report, WrapErr, miette};
use npyz::{DType, NpyHeader, Order, WriteOptions, WriterBuilder};
use std::path::Path;

/// Elements with their type and shape, in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    pub element: Element,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

/// Larger files are taken for a mistake.
const MAX_BYTES: u64 = 1 << 32;

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
    pub fn read(path: &Path, element: Option<Element>) -> Result<Array, Report> {
        let cannot = || format!("cannot read {}", path.display());
        let size = std::fs::metadata(path).into_diagnostic().wrap_err_with(cannot)?.len();
        if size > MAX_BYTES {
            return Err(miette!("{} has {size} bytes, the limit is {MAX_BYTES}", path.display()));
        }
        let bytes = std::fs::read(path).into_diagnostic().wrap_err_with(cannot)?;
        if is_npy(path) {
            return Array::from_npy(&bytes).wrap_err_with(|| path.display().to_string());
        }
        let element = element.unwrap_or(Element::Unsigned(1));
        let count = bytes.len() as u64 / element.bytes();
        if count * element.bytes() != bytes.len() as u64 {
            return Err(miette!(
                "{} has {} bytes, which is not a multiple of {}",
                path.display(),
                bytes.len(),
                element.bytes()
            ));
        }
        Ok(Array { element, shape: vec![count], bytes })
    }

    pub fn from_npy(bytes: &[u8]) -> Result<Array, Report> {
        let mut rest = bytes;
        let header = NpyHeader::from_reader(&mut rest).map_err(|e| miette!("not a .npy file: {e}"))?;
        let name = match header.dtype() {
            DType::Plain(name) => name.to_string(),
            _ => "a structure".to_owned(),
        };
        let element = TYPES.iter().find(|t| t.0 == name).map(|t| t.1).ok_or_else(|| {
            miette!(help = format!("types: {}", Element::NAMES), "arrays of type {name} are not supported")
        })?;
        if header.order() == Order::Fortran && header.shape().len() > 1 {
            return Err(miette!(
                help = "save it with numpy.ascontiguousarray",
                "the array is in column-major (Fortran) order"
            ));
        }
        let shape = header.shape().to_vec();
        let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d));
        let wanted = count.and_then(|n| n.checked_mul(element.bytes()));
        if wanted != Some(rest.len() as u64) {
            return Err(miette!("the file has {} bytes of data, its header says otherwise", rest.len()));
        }
        Ok(Array { element, shape, bytes: rest.to_vec() })
    }

    pub fn to_npy(&self) -> Result<Vec<u8>, Report> {
        let same = |t: &&(&str, Element)| match (t.1, self.element) {
            (a, Element::Word(n)) => a == Element::Unsigned(n),
            (a, b) => a == b,
        };
        let name = TYPES.iter().find(same).map_or("|u1", |t| t.0);
        let name = name.parse().map_err(|e| miette!("{e}"))?;
        let mut out = WriteOptions::new_header_only()
            .dtype(DType::Plain(name))
            .shape(&self.shape)
            .writer(Vec::new())
            .write_header_only()
            .into_diagnostic()?;
        out.extend_from_slice(&self.bytes);
        Ok(out)
    }

    /// Writes `.npy`, or raw bytes to any other name.
    pub fn write(&self, path: &Path) -> Result<(), Report> {
        let bytes = if is_npy(path) { self.to_npy()? } else { self.bytes.clone() };
        std::fs::write(path, bytes)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot write {}", path.display()))
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
            let file = array.to_npy().expect("bytes");
            assert!(file.starts_with(b"\x93NUMPY"), "{name}");
            assert_eq!(Array::from_npy(&file).expect("array"), array, "{name}");
            assert!(Array::from_npy(&file[..file.len() - 1]).is_err(), "{name} cut");
        }
        assert!(Array::from_npy(b"nothing").is_err());
    }
}
