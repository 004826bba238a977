//! Public ids under Criterion, beside their floor.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256, Block};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use leafid::{PublicIdKey, PublicIds, TextForm};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

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

criterion_group!(benches, public_ids);
criterion_main!(benches);
