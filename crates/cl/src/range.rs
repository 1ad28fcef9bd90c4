//! Ranges of work-items as OpenCL checks them, and the size of groups where the program leaves the choice to us.

use crate::codes::{Code, Outcome, refuse};
use wavebound::objects::codeobject::Kernel;

/// What a launch is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub dimensions: u32,
    pub offset: [u64; 3],
    pub global: [u64; 3],
    pub local: Option<[u64; 3]>,
}

/// Work-items in all, and of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub grid: [u32; 3],
    pub group: [u32; 3],
}

/// The shape of a launch; none if it has no work-items. `largest`: work-items of a group; `wave`: lanes of a wave.
pub fn shape(asked: &Asked, kernel: &Kernel, largest: u64, wave: u32) -> Outcome<Option<Shape>> {
    let required = kernel.attributes.required_group;
    let uneven = kernel.attributes.language.first().is_some_and(|version| *version >= 2);
    let mut grid = [0; 3];
    for (d, items) in grid.iter_mut().enumerate() {
        *items = u32::try_from(asked.global[d]).map_err(|_| Code::INVALID_GLOBAL_WORK_SIZE)?;
        if asked.offset[d].checked_add(asked.global[d]).is_none() {
            return refuse(Code::INVALID_GLOBAL_OFFSET);
        }
    }
    let group = match (asked.local, required) {
        (Some(local), _) => {
            let mut group = [0; 3];
            for d in 0..3 {
                if local[d] == 0 {
                    return refuse(Code::INVALID_WORK_GROUP_SIZE);
                }
                if local[d] > largest {
                    return refuse(Code::INVALID_WORK_ITEM_SIZE);
                }
                group[d] = local[d] as u32;
            }
            if required.is_some_and(|required| required != group) {
                return refuse(Code::INVALID_WORK_GROUP_SIZE);
            }
            group
        }
        (None, Some(required)) => required,
        (None, None) => chosen(grid, largest, wave),
    };
    let items: u64 = group.iter().map(|&n| u64::from(n)).product();
    if items == 0 || items > largest {
        return refuse(Code::INVALID_WORK_GROUP_SIZE);
    }
    if !uneven && (0..3).any(|d| !grid[d].is_multiple_of(group[d])) {
        return refuse(Code::INVALID_WORK_GROUP_SIZE);
    }
    Ok((!grid.contains(&0)).then_some(Shape { grid, group }))
}

/// Groups that divide the range: whole waves along the first dimension if it has some, as large as is allowed.
fn chosen(grid: [u32; 3], largest: u64, wave: u32) -> [u32; 3] {
    let mut left = u32::try_from(largest).unwrap_or(u32::MAX).max(1);
    let mut group = [1; 3];
    for d in 0..3 {
        let divides = |n: &u32| *n > 0 && *n <= grid[d] && grid[d].is_multiple_of(*n);
        let whole = (1..=left / wave.max(1)).rev().map(|n| n * wave).find(|n| d == 0 && divides(n));
        group[d] = whole.or_else(|| (1..=left.min(grid[d].max(1))).rev().find(divides)).unwrap_or(1);
        left /= group[d];
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(required: Option<[u32; 3]>, language: u32) -> Kernel {
        let mut kernel = Kernel {
            name: "k".into(),
            entry: 0,
            descriptor: Default::default(),
            kernarg_size: 0,
            args: Vec::new(),
            lds_bytes: 0,
            scratch_bytes: 0,
            version: 4,
            attributes: Default::default(),
        };
        kernel.attributes.required_group = required;
        kernel.attributes.language = vec![language, 0];
        kernel
    }

    fn asked(global: [u64; 3], local: Option<[u64; 3]>) -> Asked {
        Asked { dimensions: 3, offset: [0; 3], global, local }
    }

    #[test]
    fn ranges_are_checked() {
        let of = |asked: &Asked, kernel: &Kernel| shape(asked, kernel, 256, 64);
        let plain = kernel(None, 1);
        let good = of(&asked([128, 4, 1], Some([64, 4, 1])), &plain).expect("good").expect("some");
        assert_eq!((good.grid, good.group), ([128, 4, 1], [64, 4, 1]));
        assert_eq!(of(&asked([0, 4, 1], None), &plain), Ok(None));
        for (global, local, code) in [
            ([100, 1, 1], [64, 1, 1], Code::INVALID_WORK_GROUP_SIZE),
            ([512, 1, 1], [512, 1, 1], Code::INVALID_WORK_ITEM_SIZE),
            ([64, 64, 1], [64, 64, 1], Code::INVALID_WORK_GROUP_SIZE),
            ([64, 1, 1], [0, 1, 1], Code::INVALID_WORK_GROUP_SIZE),
            ([1 << 33, 1, 1], [64, 1, 1], Code::INVALID_GLOBAL_WORK_SIZE),
        ] {
            assert_eq!(of(&asked(global, Some(local)), &plain), Err(code.into()), "{global:?} {local:?}");
        }
        let newer = kernel(None, 2);
        assert!(
            of(&asked([100, 1, 1], Some([64, 1, 1])), &newer).is_ok(),
            "OpenCL 2.0 has smaller last groups"
        );
        let fixed = kernel(Some([8, 8, 1]), 1);
        let taken = of(&asked([64, 64, 1], None), &fixed).expect("good").expect("some");
        assert_eq!(taken.group, [8, 8, 1]);
        let wrong = of(&asked([64, 64, 1], Some([64, 1, 1])), &fixed);
        assert_eq!(wrong, Err(Code::INVALID_WORK_GROUP_SIZE.into()));
    }

    #[test]
    fn chosen_groups_divide_the_range() {
        assert_eq!(chosen([1024, 1, 1], 256, 64), [256, 1, 1]);
        assert_eq!(chosen([192, 7, 1], 256, 64), [192, 1, 1]);
        assert_eq!(chosen([1000, 1, 1], 256, 64), [250, 1, 1]);
        assert_eq!(chosen([16, 16, 16], 256, 64), [16, 16, 1]);
        assert_eq!(chosen([1, 1, 509], 256, 64), [1, 1, 1]);
        assert_eq!(chosen([0, 5, 1], 256, 64), [1, 5, 1]);
        for n in 1..600 {
            let group = chosen([n, n, 1], 256, 64);
            assert!(n % group[0] == 0 && n % group[1] == 0 && group[0] * group[1] <= 256);
        }
    }
}
