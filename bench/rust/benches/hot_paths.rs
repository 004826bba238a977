//! The hot paths under Criterion, each in a group with its floor: `cargo bench`, or `cargo bench -- tag` for some.

#[path = "../src/open.rs"]
mod open;

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256, Block};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use leafid::{ClockSource, PublicIdKey, PublicIds, TextForm};
use open::{builder, segments, wide};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

fn snowflake(criterion: &mut Criterion) {
    let counter = AtomicU64::new(0);
    let mut group = criterion.benchmark_group("snowflake");
    group.bench_function("floor: clock read + atomic add", |b| {
        b.iter(|| (SystemTime::now(), counter.fetch_add(1, Relaxed)))
    });
    let flake = wide().open().expect("open");
    group.bench_function("next", |b| b.iter(|| flake.next()));
    group.bench_function("iter", |b| {
        let mut ids = flake.iter();
        b.iter(|| ids.next())
    });
    group.bench_function("local", |b| {
        let mut local = flake.local();
        b.iter(|| local.next())
    });
    let coarse = wide().clock_source(ClockSource::Coarse).open().expect("open");
    group.bench_function("next, coarse", |b| b.iter(|| coarse.next()));
    let rated = builder().random_start(0).open().expect("open");
    group.bench_function("next, 4096 a millisecond", |b| b.iter(|| rated.next()));
    group.finish();
}

fn tag(criterion: &mut Criterion) {
    let counter = AtomicU64::new(0);
    let mut group = criterion.benchmark_group("tag");
    group.bench_function("floor: atomic add", |b| b.iter(|| counter.fetch_add(1, Relaxed)));
    let order = segments().tag("order").expect("a tag");
    group.bench_function("next", |b| b.iter(|| order.next()));
    group.finish();
}

fn bulk(criterion: &mut Criterion) {
    let flake = wide().open().expect("open");
    let order = segments().tag("order").expect("a tag");
    let mut group = criterion.benchmark_group("bulk");
    for n in [10, 1_000, 100_000] {
        let mut out = vec![0i64; n];
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("floor: write", n), |b| {
            b.iter(|| {
                for (at, slot) in black_box(&mut out).iter_mut().enumerate() {
                    *slot = at as i64;
                }
            })
        });
        group.bench_function(BenchmarkId::new("Snowflake::fill", n), |b| b.iter(|| flake.fill(&mut out)));
        group.bench_function(BenchmarkId::new("Snowflake::take", n), |b| b.iter(|| flake.take(n)));
        group.bench_function(BenchmarkId::new("Tag::fill", n), |b| b.iter(|| order.fill(&mut out)));
        group.bench_function(BenchmarkId::new("Tag::take", n), |b| b.iter(|| order.take(n)));
    }
    group.finish();
}

/// FF1 is ten rounds, each with one block of AES.
fn public_ids(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("public ids");
    let ten_blocks = |block: &mut Block, encrypt: &dyn Fn(&mut Block)| (0..10).for_each(|_| encrypt(block));
    let mut block = Block::default();
    let (aes128, aes256) = (Aes128::new(&[7; 16].into()), Aes256::new(&[7; 32].into()));
    group.bench_function("floor: ten blocks of AES-128", |b| {
        b.iter(|| ten_blocks(&mut block, &|block| aes128.encrypt_block(block)))
    });
    group.bench_function("floor: ten blocks of AES-256", |b| {
        b.iter(|| ten_blocks(&mut block, &|block| aes256.encrypt_block(block)))
    });
    for (bits, key) in [(128, &[7; 16][..]), (256, &[7; 32])] {
        let ids = PublicIds::new(PublicIdKey::new(key).expect("a key"), 1).expect("a version");
        let mut id = 1;
        group.bench_function(BenchmarkId::new("encrypt", bits), |b| {
            b.iter(|| id = ids.encrypt(id).expect("an id"))
        });
        // Takes as long as without the other thread: they share only the key.
        let done = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !done.load(Relaxed) {
                    black_box(ids.encrypt(1).expect("an id"));
                }
            });
            group.bench_function(BenchmarkId::new("encrypt, beside another thread", bits), |b| {
                b.iter(|| id = ids.encrypt(id).expect("an id"))
            });
            done.store(true, Relaxed);
        });
        group.bench_function(BenchmarkId::new("decrypt", bits), |b| {
            b.iter(|| id = ids.decrypt(id, 1).expect("an id"))
        });
        group.bench_function(BenchmarkId::new("format_id, base62", bits), |b| {
            b.iter(|| ids.format_id(id, TextForm::Base62))
        });
    }
    group.finish();
}

criterion_group!(hot_paths, snowflake, tag, bulk, public_ids);
criterion_main!(hot_paths);
