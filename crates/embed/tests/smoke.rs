#![allow(clippy::unwrap_used)]
mod common;
use common::*;
use memory_embed::*;
use std::time::Instant;
#[test]
fn smoke() {
    let t = Instant::now();
    runtime();
    println!("init {:?} {:?}", t.elapsed(), runtime_version());
    for prepack in [true, false] {
        let t = Instant::now();
        let m = Model::load_with(&model_dir(), &Options { threads: 1, prepack }, &mut || true).unwrap();
        println!("load {:?} {} {}", t.elapsed(), m.dims(), m.fingerprint());
        let q = "我之前买了什么水果？";
        for _ in 0..3 {
            let t = Instant::now();
            m.embed(q, Kind::Query, &Limits::default(), &mut || true).unwrap();
            println!("query {:?} tokens {}", t.elapsed(), m.count_tokens(q, Kind::Query));
        }
        let p = "今天把博客的订阅地址改了，顺便看了数据库慢查询。".repeat(20);
        for _ in 0..3 {
            let t = Instant::now();
            let e = m.embed(&p, Kind::Passage, &Limits::default(), &mut || true).unwrap();
            println!(
                "passage {:?} tokens {} w {}/{}",
                t.elapsed(),
                m.count_tokens(&p, Kind::Passage),
                e.windows,
                e.windows_total
            );
        }
        let v = |s: &str, k| m.embed(s, k, &Limits::default(), &mut || true).unwrap().vector;
        println!(
            "{} {}",
            cosine(&v("水果", Kind::Query), &v("我昨天去超市买了苹果和香蕉", Kind::Passage)),
            cosine(&v("水果", Kind::Query), &v("我开车去上班", Kind::Passage))
        );
        for s in ["正文里写了[CLS] [SEP] [PAD] [MASK] <s> </s> <pad> 几个记号", "<s>", "<unk>"] {
            let t = Instant::now();
            v(s, Kind::Passage);
            println!("special {:?} {}", t.elapsed(), m.count_tokens(s, Kind::Passage));
        }
        let big = "今天把博客的订阅地址改了，顺便看了数据库慢查询。".repeat(14000);
        let t = Instant::now();
        let n = m.count_tokens(&big, Kind::Passage);
        println!("count {} MB {:?} {}", big.len() / 1000000, t.elapsed(), n);
        let t = Instant::now();
        let e = m.embed(&big, Kind::Passage, &Limits { max_windows: 1 }, &mut || true).unwrap();
        println!("big {:?} {}", t.elapsed(), e.windows_total);
        println!(
            "{}",
            std::fs::read_to_string("/proc/self/status")
                .unwrap()
                .lines()
                .filter(|l| l.starts_with("VmRSS")
                    || l.starts_with("RssAnon")
                    || l.starts_with("VmHWM")
                    || l.starts_with("Threads"))
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
}
