//! Tests of the whole: what is an entity, what is a tag, and what must hold for any text.

use std::sync::LazyLock;

use memory_segment::{Segmenter, UserWord};
use proptest::prelude::*;

use super::*;

static SEGMENTER: LazyLock<Segmenter> = LazyLock::new(Segmenter::new);

fn names(text: &str) -> Vec<String> {
    extract(text, &SEGMENTER).entities.into_iter().map(|entity| entity.name).collect()
}

fn of_kind(text: &str, kind: Kind) -> Vec<String> {
    let entities = extract(text, &SEGMENTER).entities.into_iter();
    entities.filter(|entity| entity.kind == kind).map(|entity| entity.name).collect()
}

fn tags(text: &str) -> Vec<String> {
    extract(text, &SEGMENTER).tags
}

/// Each text with all of its names.
fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(names(text), *expected, "{text}");
    }
}

#[test]
fn latin_names_beside_chinese() {
    check(&[
        ("博客RSS配置", &["RSS"]),
        ("用GPT写周报", &["GPT"]),
        ("PostgreSQL里的SQL", &["PostgreSQL", "SQL"]),
        ("今天用OpenClaw配置了RSS", &["OpenClaw", "RSS"]),
        ("fooRSSbar", &["fooRSSbar"]),
        ("ＲＳＳ和ＧＰＴ－４ｏ", &["ＲＳＳ", "ＧＰＴ－４ｏ", "ＧＰＴ"]),
        ("换成 Giscus。Disqus 太慢", &["Giscus", "Disqus"]),
        ("（Vue 3 + TypeScript + Pinia）很顺手", &["Vue", "TypeScript", "Pinia"]),
        ("看 GSC（Google Search Console）里", &["GSC", "Google Search Console"]),
        ("旧评论转成 GitHub Discussions，", &["GitHub Discussions", "GitHub"]),
        ("写 C++、C# 和 .NET，还有 Node.js 的", &["C++", "C#", ".NET", "Node.js"]),
        ("Qwen2.5 和 pg18、k8s 都试了", &["Qwen2.5", "pg18", "k8s"]),
        ("memory_search 对中文", &["memory_search"]),
        ("几个 API 和 APIs", &["API"]),
    ]);
}

#[test]
fn what_is_no_latin_name() {
    for text in [
        "从 1.8MB 降到 240KB，快了 500 MB",
        "Hello 大家好，OK",
        "版本 v1.2.3、2026.2.17 和 3.5",
        "The quick brown fox. It works! Really?",
        "PLEASE READ THIS NOW",
        "X/Twitter",
        "issue #12，第 3 step",
        "commit a1b2c3d4e5 和 550e8400-e29b-41d4-a716-446655440000",
    ] {
        assert_eq!(names(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_not_seen_does_not_cut_a_name() {
    check(&[("用 Open\u{200B}Claw 和 R\u{200D}SS", &["OpenClaw", "RSS"])]);
}

#[test]
fn keys_are_no_names() {
    for text in [
        "sk-proj-abcDEF1234567890abcdefGHIJKLMNOPqrstuv 和 ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "`sk-ant-api03-AbCdEf123456-XyZ` AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    ] {
        assert_eq!(names(text), [""; 0], "{text}");
    }
}

#[test]
fn names_in_english() {
    check(&[
        ("We met Alice in New York with a friend of Bob.", &["Alice", "New York", "Bob"]),
        ("Yesterday we moved to PostgreSQL and set up an RSS feed.", &["PostgreSQL", "RSS"]),
        ("Meeting with Dr. Johnson at noon. Using React and Vue.", &["Johnson", "React", "Vue"]),
        (
            "We read \"Attention Is All You Need\" and “The Art of War”.",
            &["Attention Is All You Need", "The Art of War"],
        ),
        ("She said \"Hello World\" and \"OpenClaw\".", &["OpenClaw"]),
        ("坐 G7539 去上海", &["G7539", "上海"]),
    ]);
}

#[test]
fn code_is_no_prose() {
    check(&[
        ("a ``x ` y`` b `z`", &["x ` y", "z"]),
        ("`k = 60` `?.` `42` `#fff`", &["k = 60", "#fff"]),
        (
            "`layouts/_default/list.rss.xml` 与 `https://a.example/x`",
            &["layouts/_default/list.rss.xml", "https://a.example/x"],
        ),
        (
            "前\n```js\nconst OpenClaw = new FooBar(); // https://a.example/b\n```\n后 WebSub",
            &["https://a.example/b", "WebSub"],
        ),
        (
            "`NAS:/photo/2026/a` `CHG-0403` `select Title`",
            &["NAS:/photo/2026/a", "NAS", "/photo/2026/a", "CHG-0403", "CHG", "select Title"],
        ),
        ("```sh\ncp /etc/config/dhcp ~/backup/x # FooBar /a/b\n```\n", &["/etc/config/dhcp", "~/backup/x"]),
        ("- ~~~\n  FooBar #x\n  ~~~\n", &[]),
        ("---\ntitle: FooBar\ntags: [a]\n---\nWebSub", &["WebSub"]),
        ("let FooBar = 1;\n```\n正文里有 WebSub", &["WebSub"]),
    ]);
    assert_eq!(of_kind("`layouts/list.rss.xml` `a.b()`", Kind::Path), ["layouts/list.rss.xml"]);
    let long = format!("`{}`", "很长".repeat(60));
    assert!(names(&long).is_empty());
}

#[test]
fn a_fence_never_pairs_with_the_next() {
    let text = "升级命令：\n\n```bash\n# 先备份\nnpm install -g openclaw@latest\n```\n\n升级后会话丢了，`sessions.json` 里变了。\n\n```\nx\n```\n";
    assert_eq!(names(text), ["sessions.json"]);
    assert!(tags(text).is_empty());
}

#[test]
fn addresses_and_paths() {
    check(&[
        ("见 https://docs.example.com/api/v2，然后继续。", &["https://docs.example.com/api/v2"]),
        (
            "两个：https://a.example/1、https://b.example/2；<https://c.example/3> [文](https://d.example/4 \"题\")",
            &["https://a.example/1", "https://b.example/2", "https://c.example/3", "https://d.example/4"],
        ),
        ("域名 notes.example.com，写信到 zhiyuan@example.com", &["notes.example.com", "zhiyuan@example.com"]),
        ("日志在 /var/log/x-main.log，配置在 ~/.openclaw/openclaw.json，", &["/var/log/x-main.log", "~/.openclaw/openclaw.json"]),
        (r"放在 D:\项目\记忆库\a.md 里", &[r"D:\项目\记忆库\a.md"]),
        ("清单在 reports/redirects.csv 和 README.md", &["reports/redirects.csv", "README.md"]),
        ("X/Twitter、和/或、1/2、2026/02/19、</b> 都不是路径", &[]),
        ("TCP/IP 与 HTTP/2", &["TCP", "IP", "HTTP"]),
    ]);
    assert_eq!(of_kind("https://a.example/1 和 a@b.example.com", Kind::Url).len(), 2);
    check(&[
        ("发到zhang@163.com，抄送 foo@126.com。", &["zhang@163.com", "foo@126.com"]),
        ("x_y@163.com a.b+c@gmail.com", &["x_y@163.com", "a.b+c@gmail.com"]),
        (
            "first+tag@example.com and last+tag@example.com",
            &["first+tag@example.com", "last+tag@example.com"],
        ),
        ("见 http://例子.中国/x，《https://a.example/5》", &["http://例子.中国/x", "https://a.example/5"]),
        (r"放在 \\server\share\x.doc 里", &[r"\\server\share\x.doc"]),
        ("![截图](./images/截图 2026.png) 和 [文](a.md)", &["./images/截图 2026.png", "a.md"]),
    ]);
    assert_eq!(of_kind("《https://a.example/5》", Kind::Url).len(), 1);
}

#[test]
fn an_address_that_is_too_long_loses_its_query() {
    let text =
        format!("见 https://a.example/x?q={} 和 https://b.example/{}", "a".repeat(300), "b".repeat(300));
    assert_eq!(names(&text), ["https://a.example/x"]);
}

#[test]
fn terms_begin_where_the_noun_begins() {
    let terms = |text| of_kind(text, Kind::Term);
    for (text, expected) in [
        ("今天完成博客订阅优化", vec!["博客订阅优化"]),
        ("再谈一谈博客订阅优化", vec!["博客订阅优化"]),
        ("做了博客订阅系统", vec!["博客订阅系统"]),
        ("我们用的系统", vec![]),
        ("这是操作系统的配置优化工具", vec!["操作系统"]),
        ("升级系统，修改配置，使用工具", vec![]),
        ("把配置优化了一下，网关配置好了", vec![]),
        ("前端框架和搜索引擎优化", vec!["前端框架", "搜索引擎", "搜索引擎优化"]),
        ("部落格訂閱系統", vec!["訂閱系統"]),
        // What is done is no part of what it is done to, whatever tag the dictionary gives it.
        ("评审订单管理系统", vec!["订单管理系统"]),
        ("开会讨论订单管理系统", vec!["订单管理系统"]),
        ("讨论了订单管理系统", vec!["订单管理系统"]),
        ("测试日志系统", vec!["日志系统"]),
        ("和产品经理陈静开会讨论权限管理系统的重构方案", vec!["权限管理系统"]),
        ("上线推荐系统，排查支付系统的问题，部署监控平台", vec!["推荐系统", "支付系统", "监控平台"]),
        ("整理知识管理系统，参加数据平台培训", vec!["知识管理系统", "数据平台"]),
        // And what a system is for is part of its name.
        ("评审系统、管理系统、推荐系统，做了搜索优化", vec!["评审系统", "管理系统", "推荐系统", "搜索优化"]),
        (
            "订单评审系统、推荐算法平台和支付网关系统",
            vec!["订单评审系统", "推荐算法", "推荐算法平台", "支付网关系统"],
        ),
        (
            "测试用例管理平台、自动化测试框架和机器学习平台",
            vec!["测试用例管理平台", "自动化测试框架", "机器学习平台"],
        ),
    ] {
        let found = terms(text);
        if text.starts_with("这是") {
            assert!(
                found.contains(&expected[0].to_string())
                    && found.iter().all(|t| !t.starts_with(['的', '这']))
            );
        } else if text.starts_with("部落格") {
            assert!(found.iter().any(|t| t.ends_with("訂閱系統")), "{found:?}");
        } else {
            assert_eq!(found, expected, "{text}");
        }
    }
}

#[test]
fn chinese_names() {
    let text = "张曼婷说，何工和孟总去了苏州工业园区，王老师在盐城，陆一鸣在北京大学。";
    assert_eq!(of_kind(text, Kind::Person), ["张曼婷", "何工", "孟总", "王老师", "陆一鸣"]);
    assert_eq!(of_kind(text, Kind::Place), ["苏州工业园区", "盐城"]);
    assert_eq!(of_kind(text, Kind::Organisation), ["北京大学"]);
    check(&[
        ("上门的钱师傅", &["钱师傅"]),
        ("读《置身事内》和《了不起的盖茨比》", &["置身事内", "了不起的盖茨比"]),
        ("用微信和支付宝，不用小红书", &["微信", "支付宝", "小红书"]),
        ("在园区九龙医院做的体检", &["九龙医院"]),
        ("链接到 [[项目计划|计划]] 和 [[陆一鸣]]", &["项目计划", "陆一鸣"]),
        ("刘总监说了，黄经理和徐奶奶来了，老陈也在", &["刘总监", "黄经理", "徐奶奶", "老陈"]),
        (
            "老王和小张、老李、小王、李姐、周阿姨、高老师",
            &["老王", "小张", "老李", "小王", "李姐", "周阿姨", "高老师"],
        ),
    ]);
    for text in [
        "谢谢，安静的城市，美丽的东西，登山很累，明白了",
        "那张表改了一段时间，许可证到期了",
        "胡萝卜和西红柿，杜鹃花开了，王朝和陆军",
        "祝你好运，注意安全，确保安全",
        "买了施华洛世奇项链，住亚特兰蒂斯酒店，曾经沧海难为水",
        "一小段代码，小钱不算，小熊和老赖",
    ] {
        assert_eq!(names(text), [""; 0], "{text}");
    }
}

#[test]
fn names_of_the_users() {
    let mut segmenter = Segmenter::new();
    let word = |word: &str| UserWord { word: word.into(), freq: None, tag: None };
    segmenter.set_user_words(&[word("晓彤"), word("小满")]);
    let found = extract("晓彤给小满讲故事", &segmenter);
    let names: Vec<_> = found.entities.iter().map(|entity| entity.name.as_str()).collect();
    assert!(names.contains(&"晓彤"), "{names:?}");

    let word = |word: &str, tag: &str| UserWord { word: word.into(), freq: None, tag: Some(tag.into()) };
    segmenter.set_user_words(&[
        word("风禾三", "nr"),
        word("青石巷口", "ns"),
        word("星火读书会", "nt"),
        word("云栖七号", "nz"),
        word("慢查询日志", "n"),
    ]);
    let found = extract("风禾三在青石巷口的星火读书会讲云栖七号的慢查询日志", &segmenter);
    let names: Vec<_> = found.entities.iter().map(|entity| (entity.name.as_str(), entity.kind)).collect();
    let expected = [
        ("风禾三", Kind::Person),
        ("青石巷口", Kind::Place),
        ("星火读书会", Kind::Organisation),
        ("云栖七号", Kind::Name),
    ];
    assert_eq!(names, expected);
}

#[test]
fn tags_and_what_looks_like_one() {
    let text = "#博客 和 #RSS2 还有 #中文标签，行末 #收尾\n（#括号里的标签）、#下划_线 #a1\n# 标题\n##没有空格\n\\#转义的不算\nC#语言、`#代码里的不算`、issue #123、颜色 #fff 与 #1E90FF\nhttps://example.com/page#片段 https://example.com/a?x=1#frag-ment\nHTML：&#39; &#x4e2d;\n```css\n/* #围栏里的不算 */\n```\n";
    assert_eq!(tags(text), ["博客", "RSS2", "中文标签", "收尾", "括号里的标签", "下划_线", "a1"]);
    assert_eq!(tags("#博客 #博客 #ＲＳＳ #rss #部落格 #項目 #项目"), ["博客", "ＲＳＳ", "部落格", "項目"]);
}

#[test]
fn once_each_in_order() {
    let found = extract("RSS、OpenClaw，rss 与 ＲＳＳ 在苏州，再用 `OpenClaw`", &SEGMENTER);
    let names: Vec<_> = found.entities.iter().map(|entity| (entity.name.as_str(), entity.kind)).collect();
    assert_eq!(names, [("RSS", Kind::Acronym), ("OpenClaw", Kind::Name), ("苏州", Kind::Place)]);
}

#[test]
fn tags_and_entities_are_linked_by_key() {
    let found = extract("讲了 RSS。#rss #博客", &SEGMENTER);
    let links: Vec<_> = found.links().into_iter().map(|link| (link.key, link.kind)).collect();
    assert_eq!(links, [("rss".to_string(), Kind::Acronym), ("博客".to_string(), Kind::Tag)]);
}

#[test]
fn keys() {
    for (name, expected) in [
        ("ＯｐｅｎＣｌａｗ", "openclaw"),
        ("博客訂閱系統", "博客订阅系统"),
        ("/tags/", "/tags"),
        ("/", "/"),
        ("a  b\tc", "a b c"),
        ("", ""),
    ] {
        assert_eq!(key(name), expected);
    }
}

#[test]
fn kinds_have_stable_names() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_name(kind.name()), Some(kind));
    }
    assert_eq!(Kind::from_name("nothing"), None);
}

#[test]
fn bounded() {
    let many: String = (0..2_000).map(|i| format!("Topic{i}X 和 #标签{i}甲\n")).collect();
    let found = extract(&many, &SEGMENTER);
    assert_eq!((found.entities.len(), found.tags.len()), (MAX_ENTITIES, MAX_TAGS));
}

/// Each would take minutes if any part were quadratic.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    const SIZE: usize = 1_000_000;
    for unit in [
        "#",
        "(",
        "A",
        "`",
        "`` ` ",
        "/",
        "/a",
        "[[",
        "[[a",
        "《",
        "《a",
        "<a ",
        "://",
        "a://",
        "http://",
        "~/",
        "../",
        "a.",
        "a-",
        "a_",
        "_",
        "a@",
        "A ",
        "Ab ",
        "&#",
        "\\",
        "#a",
        "```\n",
        "- ",
        "> ",
        "中",
        "系统",
        "张",
        "张三丰说",
        "\n",
        "—",
        "\u{200b}",
        "中\u{200b}",
        "--\n",
        "a/中",
        "/中",
        "http://a(",
        "ab://.",
        "a@b.com",
        "a+",
        "\\\\a\\b",
        "](a ",
        "\"A is ",
        "“The ",
        "a\u{200b}",
        "测试日志系统",
        ".A",
        "C#",
        "1 ",
    ] {
        let text = unit.repeat(SIZE / unit.len());
        let found = extract(&text, &SEGMENTER);
        assert!(found.entities.len() <= MAX_ENTITIES && found.tags.len() <= MAX_TAGS, "{unit}");
    }
    let ticks: String = (1..1_400).map(|n| "`".repeat(n) + " ").collect();
    assert!(extract(&ticks, &SEGMENTER).entities.is_empty());
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[ -~]{0,12}",
        "[#`/\\[\\]《》（）。，\\n ＃<>~.:_-]{1,6}",
        prop::sample::select(vec![
            "博客订阅系统",
            "张曼婷",
            "何工",
            "苏州",
            "OpenClaw",
            "RSS",
            "https://a.example/x",
            "/var/log/x",
            "```\n",
            "#标签",
            "訂閱",
            "ＧＰＴ",
            "\u{200b}",
            "\u{fe0f}",
            "《书》",
            "`x`",
            "a.b@c.com",
            "---\n",
            "ﷺ",
            "中",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_gives_names_that_are_in_it(text in texts()) {
        let found = extract(&text, &SEGMENTER);
        prop_assert_eq!(&found, &extract(&text, &SEGMENTER));
        prop_assert!(found.entities.len() <= MAX_ENTITIES && found.tags.len() <= MAX_TAGS);
        let whole = fold(&text);
        let whole: String = whole.chars().filter(|c| !c.is_whitespace()).collect();
        let mut keys = std::collections::BTreeSet::new();
        for entity in &found.entities {
            prop_assert!(keys.insert(key(&entity.name)), "twice: {:?}", entity);
        }
        for name in found.entities.iter().map(|entity| &entity.name).chain(&found.tags) {
            prop_assert!(!name.is_empty() && name.chars().count() <= MAX_NAME_CHARS);
            prop_assert!(!name.contains(['\n', '\r']));
            let key: String = key(name).chars().filter(|c| !c.is_whitespace()).collect();
            prop_assert!(!key.is_empty() && whole.contains(&key), "{:?} in {:?}", key, whole);
        }
        let links = found.links();
        prop_assert!(links.len() <= found.entities.len() + found.tags.len());
    }

    #[test]
    fn a_key_is_its_own_key(name in any::<String>()) {
        let once = key(&name);
        prop_assert_eq!(key(&once), once.as_str());
        prop_assert!(once.chars().count() <= MAX_NAME_CHARS);
    }
}
