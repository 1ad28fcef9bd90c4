//! Lists: an enum whose variants stand beside what there is to know about them. One entry gives the variant, its place in
//! `ALL` and its answer to `info`, so nothing on a list can be forgotten in one of the three.

/// `listed! { /// What it is. pub enum List: Info { Variant = entry, … } }`.
macro_rules! listed {
    ($(#[$attribute:meta])* pub enum $list:ident: $info:ty { $($(#[$of_variant:meta])* $variant:ident = $entry:expr,)* }) => {
        $(#[$attribute])*
        pub enum $list {
            $($(#[$of_variant])* $variant,)*
        }

        impl $list {
            /// All of them, in the order of the list.
            pub const ALL: [$list; [$($list::$variant),*].len()] = [$($list::$variant),*];

            /// What there is to know about it.
            pub const fn info(self) -> $info {
                match self {
                    $($list::$variant => $entry,)*
                }
            }

            /// Its name in files and on the command line.
            pub const fn name(self) -> &'static str {
                self.info().name
            }
        }
    };
}
pub(crate) use listed;
