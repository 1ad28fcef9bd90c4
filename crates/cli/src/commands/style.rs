//! How branches are marked, as an option.

use clap::ValueEnum;
use wavebound::hw::MarkStyle;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StyleArg {
    /// split before the branch, merge where its lanes meet again
    #[default]
    Pws,
    /// MODE bit 21 set around the branch
    Thesis,
}

impl From<StyleArg> for MarkStyle {
    fn from(style: StyleArg) -> MarkStyle {
        match style {
            StyleArg::Pws => MarkStyle::Pws,
            StyleArg::Thesis => MarkStyle::Thesis,
        }
    }
}
