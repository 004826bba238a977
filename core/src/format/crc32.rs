//! The checksum of a slot: CRC-32 as in zip files.

/// The remainders of four bits. A slot is short, so a larger table would save nothing that is felt.
const REMAINDERS: [u32; 16] = remainders();

const fn remainders() -> [u32; 16] {
    let mut table = [0; 16];
    let mut at = 0;
    while at < 16 {
        let (mut rest, mut bits) = (at as u32, 0);
        while bits < 4 {
            rest = if rest & 1 == 1 { rest >> 1 ^ 0xedb8_8320 } else { rest >> 1 };
            bits += 1;
        }
        table[at] = rest;
        at += 1;
    }
    table
}

/// The checksum of these bytes.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let half = |rest: u32| rest >> 4 ^ REMAINDERS[rest as usize & 15];
    !bytes.iter().fold(!0, |rest, byte| half(half(rest ^ u32::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn checksums_are_those_of_the_catalogue_of_crcs() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(&[0xff; 32]), 0xff6c_ab0b);
    }
}
