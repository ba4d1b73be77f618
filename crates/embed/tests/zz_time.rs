#![allow(clippy::unwrap_used)]
mod common; use common::*; use memory_embed::*; use std::time::Instant;
#[test] fn t(){ runtime(); let m=Model::load(&default_model(),1).unwrap();
 let n=1_000_000;
 for (name,t) in [("zh","今天把博客的订阅地址改了，顺便看了数据库慢查询。".repeat(n/70)),("marks","全角标点：，。；！？".repeat(n/30)),("box","═║╔🎬".repeat(n/13)),("a","a".repeat(n)),("quote","\"".repeat(n)),("space",format!("茶{}水"," ".repeat(n))),("nbsp",format!("茶{}水","\u{3000}".repeat(n/3))),("family","👨\u{200d}👩\u{200d}👧\u{200d}👦".repeat(n/25)),("zwj","\u{200d}".repeat(n/3)+"a"),("combining",format!("a{}","\u{301}".repeat(n/2))),("en","The quick brown fox jumps over the lazy dog. ".repeat(n/45)),("nl","a\n".repeat(n/2)),("special","<s>".repeat(n/3))] {
  let i=Instant::now(); let c=m.count_tokens(&t,Kind::Passage); let a=i.elapsed();
  let i=Instant::now(); let e=m.embed(&t,Kind::Passage,&Limits{max_windows:1},&mut ||true); println!("{name}: {c} tokens count {a:?} embed {:?} {:?}", i.elapsed(), e.map(|e|e.windows_total));
 }}
