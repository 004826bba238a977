//! Times as readable text.

use core::fmt;

/// Unix milliseconds, shown as RFC 3339 in UTC: `2019-09-06T01:35:00.834Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utc(pub i64);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, ms) = (self.0.div_euclid(86_400_000), self.0.rem_euclid(86_400_000));
        // Days since 0000-03-01 in the proleptic Gregorian calendar, counted in eras of 400 years (Hinnant,
        // civil_from_days).
        let days = days + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let (s, ms) = (ms / 1_000, ms % 1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z", s / 3_600, s / 60 % 60, s % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::Utc;
    use alloc::string::ToString;

    #[test]
    fn known_days() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_288_834_974_657, "2010-11-04T01:42:54.657Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Utc(ms).to_string(), text);
        }
    }
}
