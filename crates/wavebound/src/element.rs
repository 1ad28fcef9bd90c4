//! Numbers that buffers and arguments hold.

use wb_jobs::args::{Argument, Value};
use wb_jobs::data::{Array, Element};

mod sealed {
    pub trait Sealed {}
}

/// A number that a buffer can hold: `u8` to `u64`, `i8` to `i64`, `f32`, `f64`.
pub trait Number: Copy + sealed::Sealed {
    /// Its name in launch files and on the command line: `u32`.
    const NAME: &'static str;
    /// Its bytes as the device has them.
    fn bytes(self) -> Vec<u8>;
    /// The number that these bytes are; as many as [`Number::bytes`] gives.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($type:ident)*) => {
        $(
            impl sealed::Sealed for $type {}
            impl Number for $type {
                const NAME: &'static str = stringify!($type);

                fn bytes(self) -> Vec<u8> {
                    self.to_le_bytes().to_vec()
                }

                fn read(bytes: &[u8]) -> Option<$type> {
                    Some($type::from_le_bytes(bytes.try_into().ok()?))
                }
            }
        )*
    };
}
numbers! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

fn element<T: Number>() -> Element {
    Element::parse(T::NAME).unwrap_or(Element::U32)
}

/// A buffer that holds these numbers.
pub(crate) fn buffer<T: Number>(data: &[T]) -> Argument {
    let bytes: Vec<u8> = data.iter().flat_map(|n| n.bytes()).collect();
    Argument::Buffer(Array { element: element::<T>(), shape: vec![data.len() as u64], bytes })
}

/// A number passed by value.
pub(crate) fn value<T: Number>(number: T) -> Argument {
    Argument::Value(Value { bytes: number.bytes(), element: Some(element::<T>()) })
}

/// The numbers that bytes are.
pub(crate) fn numbers<T: Number>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).filter_map(T::read).collect()
}
