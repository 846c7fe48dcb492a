//! Numbers as people read them.

/// The count in groups of three digits: `12,034`.
#[must_use]
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// The count with its noun: `1 byte`, `12,034 bytes`.
#[must_use]
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// Bytes in the decimal unit that fits: `812 B`, `15.3 MB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        // 999.95 would be printed as 1000.0: that is the next unit.
        if amount < 999.95 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{amount:.1} {unit}") };
        }
        amount /= 1e3;
    }
    format!("{amount:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_told_in_groups_of_three_digits() {
        for (count, told) in [
            (0, "0 entries"),
            (1, "1 entry"),
            (999, "999 entries"),
            (1_000, "1,000 entries"),
            (12_034_567, "12,034,567 entries"),
        ] {
            assert_eq!(counted(count, "entry", "entries"), told);
        }
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        for (bytes, shown) in
            [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (999_960, "1.0 MB"), (15_300_000, "15.3 MB")]
        {
            assert_eq!(size(bytes), shown);
        }
    }
}
