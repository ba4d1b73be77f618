//! Parser and dictionary together: what is found by what.
//!
//! Each group is a failure people reported of jieba, its ports or PostgreSQL's default parser; `P05` and the
//! like are the numbers of the reports.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Config;
use memory_segment::{lexize, Lexemes, Parser, Segmenter, StopWords, TokenKind, UserWord};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::LazyLock;

static CONFIG: LazyLock<Config> = LazyLock::new(Config::new);

fn assert_found(text: &str, queries: &[&str]) {
    for query in queries {
        assert!(CONFIG.matches(text, query), "{query} in {text}: {:?}", CONFIG.vector(text));
    }
}

fn assert_not_found(text: &str, queries: &[&str]) {
    for query in queries {
        assert!(!CONFIG.matches(text, query), "{query} in {text}: {:?}", CONFIG.vector(text));
    }
}

fn assert_words(text: &str, words: &[(&str, &str)]) {
    assert_eq!(CONFIG.words(text), words, "{text}");
}

/// A long text is cut in portions; that must not show.
#[test]
fn long_texts() {
    static PAUSES: AtomicUsize = AtomicUsize::new(0);
    let segmenter = Segmenter::new().pausing(|| {
        PAUSES.fetch_add(1, Ordering::Relaxed);
    });
    let sentence = "我在清华大学学习Node.js，永和服装饰品有限公司的B超\r\n研究生命起源。";
    let text = sentence.repeat(10_000);
    for hmm in [true, false] {
        assert!(segmenter.cut(&text, hmm) == segmenter.cut(sentence, hmm).repeat(10_000));
    }
    assert!(segmenter.cut_all(&text) == segmenter.cut_all(sentence).repeat(10_000));
    assert!(segmenter.tag(&text) == segmenter.tag(sentence).repeat(10_000));
    assert!(PAUSES.load(Ordering::Relaxed) > 6);

    // Without a place to begin anew, words at the borders of portions are those of the middle.
    let run = "研究生命起源于海洋的永和服装饰品".repeat(30_000);
    let words = segmenter.cut(&run, true);
    assert_eq!(words.concat(), run);
    let period = segmenter.cut("研究生命起源于海洋的永和服装饰品", true).len();
    let of_middle: Vec<&str> = words.iter().copied().skip(period).take(period).collect();
    for (number, repetition) in words[period..words.len() - period].chunks(period).enumerate() {
        assert_eq!(repetition, of_middle, "repetition {number}");
    }
}

#[test]
fn words_and_inner_words_of_chinese_text_are_found() {
    // P01, P02, P03, P14, P15
    assert_found("周末全家去湿地公园看候鸟迁徙", &["候鸟", "湿地", "公园"]);
    assert_found("他心理健康", &["心理", "健康", "心理健康"]);
    let bank = "去中国农业发展银行办了开户";
    assert_found(bank, &["农业", "银行", "发展银行", "中国农业发展银行"]);
    assert_not_found(bank, &["工商"]);
    let mixed = "凌晨批量处理自动提交超凡的 Baidu百度 𠮷";
    assert_found(mixed, &["凌晨", "批量", "处理", "自动", "提交", "超凡", "baidu", "百度", "𠮷"]);
    assert_found("她现在是CTO，负责整条产品线。", &["CTO", "产品", "产品线"]);
}

#[test]
fn languages_with_signs_are_told_apart() {
    // P05
    for name in ["C#", "C++", "F#", "g++", "C", "c"] {
        let lexemes = CONFIG.vector(name);
        assert_eq!(lexemes.into_iter().collect::<Vec<_>>(), [name.to_lowercase()]);
    }
    assert_found("用C#写的查死链工具", &["C#", "c#"]);
    assert_not_found("用C#写的查死链工具", &["C++", "C"]);
    assert_found("网关那块是C++写的", &["C++"]);
    assert_found("大学学过C语言", &["C", "C语言"]);
    assert_found("C++20 的模块", &["C++20", "C++"]);
    assert_found("用.NET开发", &[".NET", "net"]);
    assert_found("AT&T 和 R&D", &["AT&T", "r&d"]);
    assert_found("x&amp;y foo&bar id&ip", &["x", "y", "foo", "bar", "ip"]);
    assert_words("i++; a+b", &[("identifier", "i++"), ("asciiword", "a"), ("asciiword", "b")]);
}

#[test]
fn compounds_are_found_whole_and_by_parts() {
    // P06, P07, P28
    assert_found("把 Node.js 升到 22", &["Node.js", "node", "js", "22"]);
    assert_found("反代到 www.example.com", &["www.example.com", "example"]);
    for text in ["用GPT-4o写周报最稳", "ＧＰＴ－４ｏ 全角写法", "GPT\u{2011}4o"] {
        assert_found(text, &["gpt-4o", "GPT-4o", "gpt", "4o"]);
    }
    assert_not_found("GPT 分区表", &["GPT-4o"]);
    assert_found("字段 session_key_v2 改名", &["session_key_v2", "session", "key", "v2"]);
    assert_not_found("session 的 key", &["session_key_v2"]);
    assert_found(
        "看 /srv/memory/2026-04-01.md",
        &["2026-04-01.md", "2026-04-01", "memory", "/srv/memory/2026-04-01.md"],
    );
    assert_found("写信到 ops@example.org。", &["ops@example.org", "example.org", "ops"]);
    assert_found("Vue3 和 PG18.0", &["vue", "Vue3", "PG18", "PG18.0", "pg"]);
    assert_found(
        "见 https://example.com/a/b.html?x=1。",
        &["example.com", "b.html", "https://example.com/a/b.html?x=1"],
    );
    assert_found("看 /srv/2026-02-19-路由器.md", &["路由器", "2026-02-19", "2026-02-19-路由器.md"]);
    assert_found("RFC: snake_case.names", &["snake_case", "names", "snake_case.names"]);
    assert_found("v1.2.3 发布", &["v1.2.3", "1.2.3"]);
}

#[test]
fn numbers_keep_their_form() {
    // P18, P22, P31
    for text in [
        "AB-7.2.1",
        "BX2607-33",
        "TT-QQ881",
        "3.14",
        "65%",
        "1,024",
        "10:30",
        "2026-04-01",
        "a_b",
        "升到7.2.1了",
        "1-2",
        "-5",
        "+86",
        "1e-5",
    ] {
        assert_found(text, &[text]);
    }
    assert_found("2026-04-01", &["2026"]);
    assert_words("2026-04-01", &[("identifier", "2026-04-01")]);
    assert_found("内存 1,024 兆", &["1024", "1,024"]);
    assert_found("内存 1024 兆", &["1,024"]);
    assert_found("打折１００％返现", &["100%", "100"]);
    assert_found("会议定在２０２７年１１月８日", &["2027", "２０２７年"]);
    assert_found("ＡＰＩ网关扩容", &["API网关", "ａｐｉ"]);
    let list = "1.打开网关.2.看日志. 了解PG18.0.";
    assert_found(list, &["网关", "日志", "打开", "PG18.0"]);
    assert_eq!(CONFIG.words(list)[0], ("uint", "1"));
    assert!(CONFIG.words(list).contains(&("uint", "2")));
    assert_found("step1.hello.2.world.", &["hello", "world"]);
    assert_words(
        "降到-5，升到+3.5：x=-1e5",
        &[
            ("han", "降到"),
            ("uint", "5"),
            ("han", "升"),
            ("han", "到"),
            ("float", "3.5"),
            ("asciiword", "x"),
            ("sfloat", "-1e5"),
        ],
    );
}

#[test]
fn kinds_are_those_of_the_default_parser() {
    assert_words(
        "word été x2 42 -42 4.2 4.2e1 4.2.0 http://h.com/p /a/b.c a@b.org &amp; <b>",
        &[
            ("asciiword", "word"),
            ("word", "été"),
            ("numword", "x2"),
            ("uint", "42"),
            ("int", "-42"),
            ("float", "4.2"),
            ("sfloat", "4.2e1"),
            ("version", "4.2.0"),
            ("protocol", "http://"),
            ("url", "h.com/p"),
            ("host", "h.com"),
            ("url_path", "/p"),
            ("file", "/a/b.c"),
            ("email", "a@b.org"),
            ("entity", "&amp;"),
            ("tag", "<b>"),
        ],
    );
    assert_words(
        "up-to-date",
        &[
            ("asciihword", "up-to-date"),
            ("hword_asciipart", "up"),
            ("hword_asciipart", "to"),
            ("hword_asciipart", "date"),
        ],
    );
    assert_words("été-2", &[("numhword", "été-2"), ("hword_part", "été"), ("hword_numpart", "2")]);
    assert_words("très-là", &[("hword", "très-là"), ("hword_part", "très"), ("hword_part", "là")]);
    assert_words(
        "http://localhost:8080/x file:///etc/hosts",
        &[
            ("protocol", "http://"),
            ("url", "localhost:8080/x"),
            ("host", "localhost:8080"),
            ("url_path", "/x"),
            ("protocol", "file://"),
            ("file", "/etc/hosts"),
        ],
    );
    assert_words(
        "(https://e.org/a_(b)), https://e.org/查看.",
        &[
            ("protocol", "https://"),
            ("url", "e.org/a_(b)"),
            ("host", "e.org"),
            ("url_path", "/a_(b)"),
            ("protocol", "https://"),
            ("host", "e.org"),
            ("han", "查看"),
        ],
    );
    for (number, kind) in TokenKind::ALL.iter().enumerate() {
        assert_eq!(usize::from(kind.number()), number + 1);
        assert!(!kind.name().is_empty() && !kind.description().is_empty());
    }
}

#[test]
fn latin_and_han_are_apart() {
    // P30
    assert_found("内网IP地址改了", &["IP", "地址", "IP地址"]);
    assert_found("博客RSS订阅修好了", &["RSS", "rss", "订阅", "RSS订阅"]);
    assert_found("买了T恤和U盘", &["U盘", "T恤"]);
    assert_words(
        "テストtest한국LG",
        &[("word", "テスト"), ("asciiword", "test"), ("word", "한국"), ("asciiword", "LG")],
    );
}

#[test]
fn both_scripts_find_each_other() {
    // P19
    assert_found("我買了蘋果和香蕉", &["蘋果", "苹果"]);
    assert_found("我买了苹果", &["蘋果"]);
    assert_found("資料庫效能優化筆記", &["資料庫", "资料库", "优化"]);
}

#[test]
fn what_is_not_seen_breaks_no_word() {
    // P29
    assert_found("\u{feff}今天写日志", &["今天"]);
    assert_found("今\u{200b}天下雨", &["今天"]);
    assert_found("soft\u{ad}ware", &["software"]);
    assert!(CONFIG
        .vector("\u{feff}今\u{200b}天 a\u{200d}b")
        .iter()
        .all(|l| !l.contains(['\u{feff}', '\u{200b}', '\u{200d}'])));
}

#[test]
fn emoji_are_words_of_their_own() {
    // P20
    let text = "今天很开心🎉我们去露营👨\u{200d}👩\u{200d}👧\u{200d}👦带上帐篷⛺\u{fe0f}";
    assert_found(text, &["露营", "帐篷", "开心", "🎉", "⛺", "👨\u{200d}👩\u{200d}👧\u{200d}👦"]);
    assert_not_found(text, &["😀"]);
    assert!(CONFIG.vector(text).iter().all(|l| !l.contains(['\u{200d}', '\u{fe0f}'])));
    assert_found("👍🏽", &["👍", "👍🏿"]);
    assert_words(
        "🎉🎉🇨🇳🇺🇸1\u{fe0f}\u{20e3}❤\u{fe0f}",
        &[
            ("emoji", "🎉"),
            ("emoji", "🎉"),
            ("emoji", "🇨🇳"),
            ("emoji", "🇺🇸"),
            ("emoji", "1\u{fe0f}\u{20e3}"),
            ("emoji", "❤\u{fe0f}"),
        ],
    );
}

#[test]
fn punctuation_gives_no_lexemes() {
    // P27, S03
    let text = "你好，世界！ hello\t\u{3000}\n—— “引号” …… ￥100";
    assert!(CONFIG.vector(text).iter().all(|l| l.chars().any(char::is_alphanumeric)));
    for text in
        ["", "   ", "。，！？", "---", "()", "\"\"", "\t\n\u{3000}", "…… → ★", "'", "\\", "&", "<", "%s"]
    {
        assert!(CONFIG.vector(text).iter().all(|l| l == "s"), "{text}: {:?}", CONFIG.vector(text));
    }
    assert_eq!(CONFIG.words("hello world"), [("asciiword", "hello"), ("asciiword", "world")]);
}

#[test]
fn markup_is_around_words_not_in_them() {
    assert_words(
        "**粗体** _em_ #标签 [链](a) __init__ `x_y`",
        &[
            ("han", "粗体"),
            ("asciiword", "em"),
            ("han", "标签"),
            ("han", "链"),
            ("asciiword", "a"),
            ("asciiword", "init"),
            ("identifier", "x_y"),
        ],
    );
    assert_found(
        "if a < b and cc > d: Vec<String>, <name> <b>粗体</b>",
        &["b", "cc", "d", "string", "name", "粗体"],
    );
    assert_words(
        "<https://e.org/x>",
        &[("protocol", "https://"), ("url", "e.org/x"), ("host", "e.org"), ("url_path", "/x")],
    );
    assert_found(
        "it's team:blue auth|admin user_name",
        &["it's blue", "auth|admin", "team:blue", "user_name"],
    );
}

#[test]
fn stop_words_go_and_single_characters_stay() {
    // P13, S02
    assert_found("桌上有狗、猫、水", &["狗", "猫", "水"]);
    for stop in ["的了是", "和 与 以及", "the of and"] {
        assert!(CONFIG.vector(stop).is_empty(), "{stop}");
    }
    let segmenter = &CONFIG.segmenter;
    assert_eq!(lexize("的", segmenter, &StopWords::builtin()), Lexemes::Stop);
    assert!(matches!(lexize("的", segmenter, &StopWords::none()), Lexemes::Words(_)));
    assert_eq!(lexize("Running", segmenter, &StopWords::builtin()), Lexemes::Filtered("running".into()));
    assert_eq!(lexize("\u{200b}", segmenter, &StopWords::builtin()), Lexemes::Unknown);
}

#[test]
fn parts_of_letters_are_to_be_stemmed() {
    let Lexemes::Words(lexemes) = lexize("test_cases_v2", &CONFIG.segmenter, &StopWords::builtin()) else {
        panic!("not a compound");
    };
    let lexemes: Vec<_> = lexemes.iter().map(|l| (l.text.as_ref(), l.variant, l.stem)).collect();
    assert_eq!(
        lexemes,
        [("test_cases_v2", 1, false), ("test", 2, true), ("cases", 2, true), ("v2", 2, false)]
    );
}

#[test]
fn too_long_words_leave_the_rest_alone() {
    // P24
    let text = format!("附件开头丁香 {} 附件结尾茉莉", "QUJDRA".repeat(800));
    assert_found(&text, &["丁香", "茉莉"]);
    assert_eq!(lexize(&"a".repeat(2047), &CONFIG.segmenter, &StopWords::none()), Lexemes::Stop);
    assert!(matches!(lexize(&"a".repeat(2046), &CONFIG.segmenter, &StopWords::none()), Lexemes::Filtered(_)));
    let path = "/part".repeat(1000);
    assert_eq!(CONFIG.vector(&path).into_iter().collect::<Vec<_>>(), ["part"]);
    let many: String = (0..1000).map(|i| format!("_x{i}y")).collect();
    assert!(CONFIG.vector(&format!("a{many}")).len() <= 65);
}

#[test]
fn endless_runs_are_cut_in_bounded_steps() {
    // P21, P23: only that they come to an end and what they give; speed is the bench's business.
    for (text, lexemes) in [
        ("中国".repeat(50_000), 1),
        ("a".repeat(200_000), 0),
        ("1".repeat(200_000), 0),
        ("../".repeat(60_000), 0),
        ("<a x=\"".repeat(20_000), 1),
        (format!("𪚥{}𪚥", "汉".repeat(9_999)), 2),
        (format!("a{}b", "\u{200b}".repeat(100_000)), 1),
    ] {
        let vector = CONFIG.vector(&text);
        assert!(vector.len() <= lexemes + 1, "{} lexemes", vector.len());
    }
    let unknown = "嘅喺".repeat(5_000);
    let mut parser = Parser::new(&unknown);
    let mut end = 0;
    while let Some(token) = parser.next_token(&CONFIG.segmenter) {
        assert_eq!(token.start, end);
        end = token.end;
    }
    assert_eq!(end, unknown.len());
    assert!(CONFIG.tokens("\u{a0}前导不换行空格").len() > 1);
}

#[test]
fn blocks_of_a_long_run_do_not_cut_a_word() {
    // 中国 has two characters: some block ends inside one unless the parser takes care.
    for lead in ["", "茶"] {
        let text = format!("{lead}{}", "中国人民".repeat(3_000));
        let words = CONFIG.words(&text);
        assert!(words
            .iter()
            .skip(1)
            .all(|(_, word)| *word == words[words.len() - 1].1 || word.chars().count() > 1));
    }
}

fn user_word(word: &str, freq: Option<usize>, tag: Option<&str>) -> UserWord {
    UserWord { word: word.to_string(), freq, tag: tag.map(str::to_string) }
}

#[test]
fn user_words_come_and_go_without_a_trace() {
    // P09, P10, P11
    let mut segmenter = Segmenter::new();
    assert_eq!(segmenter.cut("风禾三", true), ["风禾", "三"]);
    segmenter.set_user_words(&[user_word("风禾三", Some(50), Some("nz")), user_word("云海科技", None, None)]);
    assert_eq!(segmenter.cut("风禾三", true), ["风禾三"]);
    assert_eq!(segmenter.tag("风禾三"), [("风禾三", "nz")]);
    assert_eq!(segmenter.cut("云海科技发布会", true), ["云海科技", "发布会"]);
    segmenter.set_user_words(&[user_word("ens", Some(100), None), user_word("小w", None, None)]);
    assert_eq!(segmenter.cut("风禾三", true), ["风禾", "三"]);
    // Python's result as well; the text search parser does not cut Latin words.
    assert_eq!(segmenter.cut("license", true), ["lic", "ens", "e"]);
    assert_eq!(segmenter.cut("wow小w来了", true).concat(), "wow小w来了");
    let text = "renew the license";
    let mut parser = Parser::new(text);
    let mut words = Vec::new();
    while let Some(token) = parser.next_token(&segmenter) {
        words.push(&text[token.start..token.end]);
    }
    assert_eq!(words, ["renew", " ", "the", " ", "license"]);
    segmenter.set_user_words(&[]);
    assert_eq!(segmenter.cut("license", true), ["license"]);
    assert_eq!(segmenter.cut("云海科技发布会", true), ["云海", "科技", "发布会"]);
}

#[test]
fn user_words_give_the_same_whatever_came_before() {
    let (a, b, c) =
        (user_word("风禾", None, None), user_word("风禾三台", None, None), user_word("云海", Some(3), None));
    let mut first = Segmenter::new();
    first.set_user_words(&[a.clone(), b.clone(), c.clone()]);
    for mut second in [Segmenter::new(), Segmenter::new().with_spare()] {
        second.set_user_words(std::slice::from_ref(&b));
        second.set_user_words(&[b.clone(), a.clone()]);
        second.set_user_words(&[user_word("无关", Some(9), None), c.clone()]);
        second.set_user_words(&[user_word("又一个", None, None), c.clone()]);
        second.set_user_words(&[c.clone(), b.clone(), a.clone()]);
        for text in ["风禾三台云海", "风禾三号台", "云海风禾"] {
            assert_eq!(first.cut(text, true), second.cut(text, true));
            assert_eq!(first.cut_for_search(text, false), second.cut_for_search(text, false));
        }
    }
}

#[test]
fn user_words_work_in_both_scripts_and_with_rare_characters() {
    let mut segmenter = Segmenter::new();
    segmenter.set_user_words(&[user_word("龍騰雲", None, None), user_word("𠮷野家", None, None)]);
    for text in ["龍騰雲", "龙腾云", "𠮷野家"] {
        let mut parser = Parser::new(text);
        assert_eq!(parser.next_token(&segmenter).map(|token| token.end), Some(text.len()), "{text}");
    }
    // What could never be found is left out, not half applied.
    segmenter.set_user_words(&[user_word("", None, None), user_word("Blue Whale认证", None, None)]);
    assert_eq!(segmenter.cut("你好世界", true), ["你好", "世界"]);
}

#[test]
fn keywords_and_tags() {
    use memory_segment::KeywordMethod::{TextRank, TfIdf};
    let text = "今天纽约的天气真好啊，京华大酒店的张尧经理吃了一只北京烤鸭。后天纽约的天气不好，昨天纽约的天气也不好，北京烤鸭真好吃";
    let segmenter = &CONFIG.segmenter;
    for method in [TfIdf, TextRank] {
        let keywords = segmenter.keywords(text, 3, method);
        assert_eq!(keywords.len(), 3);
        assert!(keywords.iter().any(|(word, _)| word == "纽约"), "{keywords:?}");
        assert!(keywords.windows(2).all(|pair| pair[0].1 >= pair[1].1));
        assert!(keywords.iter().all(|(_, weight)| weight.is_finite() && *weight > 0.0));
        assert!(segmenter.keywords(text, 0, method).is_empty());
        assert!(segmenter.keywords("", 3, method).is_empty());
    }
    assert_eq!(
        segmenter.tag("我爱AB-7.2，做B超"),
        [
            ("我", "r"),
            ("爱", "v"),
            ("AB", "eng"),
            ("-", "x"),
            ("7.2", "m"),
            ("，", "x"),
            ("做", "v"),
            ("B超", "n")
        ]
    );
}

/// Pieces that texts of every kind are made of.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9._/@:,%+#&<>~?=-]{1,12}",
        "[中国人民银行数据库資料茶的了一二〇々龍𠮷]{1,8}",
        "[ \t\n，。！？、（）“”—…]{1,3}",
        "[ａＢ９．－：／％＋＃ｚ①½㎏]{1,4}",
        "[éüßΣςабвいカ한ำ\u{301}\u{200b}\u{200d}\u{fe0f}\u{feff}\u{ad}\u{20e3}]{1,4}",
        "[🎉👨👩👍🏽🇨🇳❤⛺→★]{1,3}",
        Just("https://example.com/a?b=1#c".to_string()),
        Just("<b class=\"x\">&amp;</b>".to_string()),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tokens_tile_the_text(text in any_text()) {
        let wholes = [TokenKind::Url, TokenKind::NumHword, TokenKind::AsciiHword, TokenKind::Hword];
        let mut end = 0;
        // Where the parts of the whole at hand have to end.
        let mut whole_end = 0;
        for token in CONFIG.tokens(&text) {
            prop_assert!(token.start < token.end);
            prop_assert!(text.get(token.start..token.end).is_some());
            prop_assert_eq!(token.start, end);
            if wholes.contains(&token.kind) {
                prop_assert!(end >= whole_end);
                whole_end = token.end;
            } else {
                end = token.end;
                prop_assert!(whole_end <= token.start || token.end <= whole_end);
            }
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn every_text_finds_itself(text in any_text()) {
        prop_assert!(CONFIG.vector(&text).is_empty() || CONFIG.matches(&text, &text));
        prop_assert!(CONFIG.vector(&text).iter().all(|l| !l.is_empty() && l.len() <= 2046));
    }

    #[test]
    fn a_token_is_found_in_its_text(text in any_text()) {
        // Not so Han words, which may be cut otherwise when they stand alone, and what only a protocol
        // before it makes a host or a path.
        let by_context = ["han", "tag", "protocol", "entity", "url", "host", "url_path"];
        for (kind, word) in CONFIG.words(&text) {
            if !by_context.contains(&kind) && !CONFIG.vector(word).is_empty() {
                prop_assert!(CONFIG.matches(&text, word), "{} {:?} in {:?}", kind, word, text);
            }
        }
    }

    #[test]
    fn lexemes_are_folded(text in any_text()) {
        for lexeme in CONFIG.vector(&text) {
            prop_assert_eq!(memory_segment::fold(&lexeme), lexeme.as_str());
        }
    }

    #[test]
    fn pieces_joined_are_the_text(text in any_text()) {
        for hmm in [true, false] {
            prop_assert_eq!(CONFIG.segmenter.cut(&text, hmm).concat(), text.as_str());
        }
        let tags: String = CONFIG.segmenter.tag(&text).iter().map(|(word, _)| *word).collect();
        prop_assert_eq!(tags, text.as_str());
        CONFIG.segmenter.cut_all(&text);
        CONFIG.segmenter.cut_for_search(&text, true);
    }

    #[test]
    fn dictionary_takes_any_token(text in any_text()) {
        let _ = lexize(&text, &CONFIG.segmenter, &CONFIG.stop_words);
    }
}
