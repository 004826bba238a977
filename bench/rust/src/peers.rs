//! The crates that a Rust program can pick instead.

use crate::harness::{burst, measured, pair, single};
use crate::ours::idle_share;
use std::hint::spin_loop;
use std::time::Duration;

pub fn measure() {
    // What panics under contention is described in its line.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some("main") {
            usual(panic);
        }
    }));

    // --- snowflaked: fixed 42/10/12, UNIX epoch by default
    let g = snowflaked::sync::Generator::new(1);
    single("snowflaked", "sync::Generator (CAS)", || g.generate::<u64>());
    burst("snowflaked", "sync::Generator (CAS)", || g.generate::<u64>());
    pair("snowflaked", "sync::Generator (CAS)", || g.generate::<u64>());

    // --- idgenerator: the yitter drift algorithm, worker and sequence bits configurable
    let opts = idgenerator::IdGeneratorOptions::new().worker_id(1).worker_id_bit_len(1).seq_bit_len(21);
    idgenerator::IdInstance::init(opts).unwrap();
    single("idgenerator", "IdInstance wide 1+21 (global mutex)", || {
        idgenerator::IdInstance::next_id() as u64
    });
    pair("idgenerator", "IdInstance wide 1+21 (global mutex)", || idgenerator::IdInstance::next_id() as u64);

    // --- idgen_rs: CAS, worker and sequence bits configurable
    let g = idgen(10, 12);
    single("idgen_rs", "FastIdGenerator 10+12 (CAS)", || g.next_id());
    burst("idgen_rs", "FastIdGenerator 10+12 (CAS)", || g.next_id());
    let g = idgen(1, 21);
    single("idgen_rs", "FastIdGenerator wide 1+21 (CAS)", || g.next_id());
    pair("idgen_rs", "FastIdGenerator wide 1+21 (CAS)", || g.next_id());

    // --- snowdon: layout and epoch are types; errors instead of waiting
    let g = snowdon::Generator::<snowdon::ClassicLayout<Params>, Params>::default();
    single("snowdon", "generate_lock_free 10+12", || retry(|| g.generate_lock_free()));
    burst("snowdon", "generate_lock_free 10+12", || retry(|| g.generate_lock_free()));
    burst("snowdon", "generate_blocking 10+12", || retry(|| g.generate_blocking()));
    let g = snowdon::Generator::<Wide, Params>::default();
    single("snowdon", "generate_lock_free wide 0+22", || retry(|| g.generate_lock_free()));
    pair("snowdon", "generate_lock_free wide 0+22", || retry(|| g.generate_lock_free()));
    pair("snowdon", "generate_blocking wide 0+22", || retry(|| g.generate_blocking()));

    // --- snowflake-ng: async, sleeps 1 ms through futures-timer when the sequence is used up
    let cfg = snowflake_ng::SnowflakeConfiguration::with_identifier(1);
    let g = snowflake_ng::SnowflakeGenerator::with_cfg(cfg);
    let next = || *g.assign_sync(&snowflake_ng::provider::STD_PROVIDER) as u64;
    single("snowflake-ng", "assign_sync", next);
    burst("snowflake-ng", "assign_sync", next);

    // --- 128-bit
    single("uuid", "Uuid::now_v7 (global mutex)", || uuid::Uuid::now_v7().as_u128());
    pair("uuid", "Uuid::now_v7 (global mutex)", || uuid::Uuid::now_v7().as_u128());
    single("ulid", "Ulid::generate", || ulid::Ulid::generate().0);

    // --- ferroid last: its clock is a background thread that ticks every millisecond from now on
    use ferroid::generator::AtomicSnowflakeGenerator;
    use ferroid::id::SnowflakeTwitterId as Twitter;
    use ferroid::time::{MonotonicClock, TWITTER_EPOCH};
    let clock = || MonotonicClock::<1>::with_epoch(TWITTER_EPOCH);
    std::thread::sleep(Duration::from_millis(20));
    let g = AtomicSnowflakeGenerator::<Twitter, _>::new(1, clock());
    single("ferroid", "Atomic twitter 10+12 (CAS)", || g.next_id(|_| spin_loop()).to_raw());
    burst("ferroid", "Atomic twitter 10+12 (CAS)", || g.next_id(|_| spin_loop()).to_raw());
    let g = AtomicSnowflakeGenerator::<FerroidWide, _>::new(1, clock());
    single("ferroid", "Atomic wide 1+21 (CAS)", || g.next_id(|_| spin_loop()).to_raw());
    pair("ferroid", "Atomic wide 1+21 (CAS)", || g.next_id(|_| spin_loop()).to_raw());
    measured("idle_ferroid", idle_share(), 0.0);
}

fn idgen(worker_bits: u8, seq_bits: u8) -> idgen_rs::FastIdGenerator {
    let options = idgen_rs::IGOptions::builder(1).worker_id_bit_length(worker_bits);
    idgen_rs::FastIdGenerator::new(&options.seq_bit_length(seq_bits).build())
}

/// Snowdon answers an error where others wait.
fn retry<L: snowdon::Layout, E: snowdon::Epoch>(
    f: impl Fn() -> snowdon::Result<snowdon::Snowflake<L, E>>,
) -> u64 {
    loop {
        match f() {
            Ok(id) => return id.into_inner(),
            Err(snowdon::Error::SnowflakeExhaustion) => spin_loop(),
            Err(e) => panic!("{e}"),
        }
    }
}

ferroid::define_snowflake_id!(FerroidWide, u64, reserved: 1, timestamp: 41, machine_id: 1, sequence: 21);

#[derive(Debug)]
struct Params;
impl snowdon::Epoch for Params {
    fn millis_since_unix() -> u64 {
        1288834974657
    }
}
impl snowdon::MachineId for Params {
    fn machine_id() -> u64 {
        1
    }
}
struct Wide;
impl snowdon::Layout for Wide {
    fn construct_snowflake(timestamp: u64, sequence: u64) -> u64 {
        timestamp << 22 | sequence
    }
    fn timestamp(id: u64) -> u64 {
        id >> 22
    }
    fn exceeds_timestamp(t: u64) -> bool {
        t >> 41 != 0
    }
    fn sequence_number(id: u64) -> u64 {
        id & 0x3f_ffff
    }
    fn exceeds_sequence_number(s: u64) -> bool {
        s > 0x3f_ffff
    }
    fn is_valid_snowflake(id: u64) -> bool {
        id >> 63 == 0
    }
}
