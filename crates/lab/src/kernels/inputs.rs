//! What a reference computes from.

/// Arguments as the reference sees them.
pub struct Inputs {
    pub(super) args: Vec<String>,
    pub(super) buffers: Vec<(usize, Vec<u8>)>,
}

impl Inputs {
    pub fn bytes(&self, arg: usize) -> &[u8] {
        self.buffers.iter().find(|b| b.0 == arg).map_or(&[], |b| b.1.as_slice())
    }

    pub fn words(&self, arg: usize) -> Vec<u32> {
        self.bytes(arg).chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    pub fn floats(&self, arg: usize) -> Vec<f32> {
        self.words(arg).into_iter().map(f32::from_bits).collect()
    }

    /// A number that is passed as it is.
    pub fn number<T: std::str::FromStr + Default>(&self, arg: usize) -> T {
        let text = self.args.get(arg).and_then(|a| a.split_once(':')).map_or("", |a| a.1);
        text.parse().unwrap_or_default()
    }
}
