//! Tests of the crate as its users see it: whole texts in, chunks out.
//!
//! The letters and numbers in names (M02 …) are those of the bug reports that a test stands for.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn markdown(text: &str) -> Document {
    split_markdown(text, &Options::default())
}

fn titles(document: &Document) -> Vec<&str> {
    document.chunks.iter().map(|chunk| chunk.title.as_deref().unwrap_or("-")).collect()
}

/// The title of the only chunk that contains `marker`.
fn title_of<'d>(document: &'d Document, marker: &str) -> &'d str {
    let found: Vec<_> = document.chunks.iter().filter(|chunk| chunk.content.contains(marker)).collect();
    assert_eq!(found.len(), 1, "{marker}: {found:?}");
    found[0].title.as_deref().unwrap_or("-")
}

fn words(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect()
}

const DIARY: &str = "# 2026-04-02 星期四\n\n早上下雨。#日记\n\n## 订阅\n\n- 首页加了 `rss.xml`\n- 只输出摘要\n\n\
                     标签：#博客\n\n## 升级\n\n```bash\n# 先备份\nnpm install\n```\n\n丢了一段上下文。\n\n## 待办\n\n- [ ] 选型\n";

#[test]
fn a_diary_gives_a_chunk_a_section() {
    let document = markdown(DIARY);
    assert_eq!(document.title.as_deref(), Some("2026-04-02 星期四"));
    assert_eq!(titles(&document), ["2026-04-02 星期四", "订阅", "升级", "待办"]);
    assert_eq!(document.chunks[0].content, "早上下雨。#日记");
    assert_eq!(document.chunks[2].content, "```bash\n# 先备份\nnpm install\n```\n\n丢了一段上下文。");
}

#[test]
fn m02_line_ends_make_no_difference() {
    let expected = markdown(DIARY);
    assert_eq!(markdown(&DIARY.replace('\n', "\r\n")), expected);
    assert_eq!(markdown(&DIARY.replace('\n', "\r")), expected);
    assert_eq!(markdown(&format!("\u{feff}{}", DIARY.replace('\n', "\r\n"))), expected);
}

#[test]
fn m03_a_byte_order_mark_is_no_text() {
    let document = markdown("\u{feff}## 甲\n一\n## 乙\n二");
    assert_eq!(titles(&document), ["甲", "乙"]);
    assert!(document.chunks.iter().all(|chunk| !chunk.content.contains('\u{feff}')));
    let document = markdown("\u{feff}---\ntitle: 题\n---\n## 甲\n一");
    assert_eq!(document.front_matter.get("title"), Some(&json!("题")));
    assert_eq!(titles(&document), ["甲"]);
}

#[test]
fn m04_front_matter_is_no_content() {
    let text = "---\ntitle: \"四月: 复盘\"\ntags: [复盘, \"C#\"]\nsummary: |\n  ## 不是标题\ndraft: false\n---\n\n前言。\n\n\
                题一\n----\n\n石榴。\n\n---\n\n分割线之后。\n\n## 题二\n\n柚子。\n";
    let document = markdown(text);
    assert_eq!(titles(&document), ["-", "题一", "题二"]);
    assert_eq!(title_of(&document, "分割线之后"), "题一");
    assert!(!document
        .chunks
        .iter()
        .any(|chunk| chunk.content.contains("draft") || chunk.content.contains("不是标题")));
    assert_eq!(document.front_matter["tags"], json!(["复盘", "C#"]));
    assert_eq!(markdown(&text.replace('\n', "\r\n")), document);
    let only_front_matter = markdown("---\ntitle: 题\n---");
    assert_eq!((only_front_matter.chunks.len(), only_front_matter.front_matter.len()), (0, 1));
}

#[test]
fn m05_m06_headings() {
    let text = "## 待办\n\n- 菠萝\n\n## 空一\n## 空二\n\n## 待办\n\n- 山竹\n\n##没有空格\n\n####### 七个\n\n  ## 缩进两格\n\n杨梅\n\n    \
                ## 缩进四格\n\n## 带尾 ##\n\n枇杷\n\n##\n\n橄榄\n\n## `码` 与 **粗** 和 [链接](https://example.com/a_(b))\n\n### 三级\n\n椰子\n\n\
                \\## 转义\n\n<!--\n## 注释\n-->\n\n> ## 引用\n\n- ## 列表\n\n##\t制表符\n\n榴莲\n";
    let document = markdown(text);
    assert_eq!(
        titles(&document),
        [
            "待办",
            "空一",
            "空二",
            "待办",
            "缩进两格",
            "带尾",
            "",
            "`码` 与 **粗** 和 [链接](https://example.com/a_(b)) > 三级",
            "制表符",
        ]
    );
    for (marker, title) in
        [("山竹", "待办"), ("七个", "待办"), ("缩进四格", "缩进两格"), ("橄榄", ""), ("榴莲", "制表符")]
    {
        assert_eq!(title_of(&document, marker), title);
    }
    for marker in ["\\## 转义", "## 注释", "> ## 引用", "- ## 列表", "椰子"] {
        assert!(title_of(&document, marker).ends_with("三级"));
    }
}

#[test]
fn m07_a_chunk_knows_the_headings_above_it() {
    let document =
        markdown("# 记忆\n\n## 项目\n\n### 博客\n\nHugo 仓库\n\n### 记忆系统\n\n选型\n\n## 红线\n\n不外传\n");
    assert_eq!(titles(&document), ["记忆", "项目 > 博客", "项目 > 记忆系统", "红线"]);
}

#[test]
fn m08_nothing_comes_of_nothing() {
    for text in ["", "\u{feff}", "\u{feff}\u{feff}", "\n\n\r\n\r", " \t\u{3000}\n"] {
        assert_eq!(markdown(text).chunks, [], "{text:?}");
        assert_eq!(split_text(text, &Options::default()), [], "{text:?}");
    }
    assert_eq!(markdown("## ").chunks, []);
    let chunk = |title: Option<&str>, content: &str| Chunk {
        title: title.map(str::to_owned),
        content: content.to_owned(),
    };
    assert_eq!(markdown("## 只有标题").chunks, [chunk(Some("只有标题"), "只有标题")]);
    assert_eq!(markdown("# 只有标题").chunks, [chunk(Some("只有标题"), "只有标题")]);
    assert_eq!(
        markdown("一段话：无花果。\n\n第二段。\n").chunks,
        [chunk(None, "一段话：无花果。\n\n第二段。")]
    );
    assert_eq!(
        markdown("前\n\n# 甲\n一\n\n# 乙\n\n## 丙\n三\n").chunks,
        [chunk(Some("甲"), "前"), chunk(Some("甲"), "一"), chunk(Some("乙"), "乙"), chunk(Some("丙"), "三")]
    );
}

#[test]
fn m09_long_lines_and_tables() {
    let line: String = (0..3_000).map(|n| format!("记录𠮷野家第{n}份套餐")).collect();
    let rows: String = (0..300).map(|n| format!("| {n} | https://example.com/t#row-{n} | 值 |\n")).collect();
    let text = format!(
        "# 长\n\n## 长行\n\n{line}终点\n\n## 宽表格\n\n| a | b | c |\n|---|---|---|\n{rows}\n## 无空格\n\n{}火龙果\n",
        "字".repeat(4_800)
    );
    let document = markdown(&text);
    assert_eq!(title_of(&document, "终点"), "长行");
    assert_eq!(title_of(&document, "火龙果"), "无空格");
    assert!(document.chunks.iter().all(|chunk| chunk.content.chars().count() <= 800));
    let table: Vec<_> =
        document.chunks.iter().filter(|chunk| chunk.title.as_deref() == Some("宽表格")).collect();
    assert!(table.len() > 5);
    assert!(table.iter().all(|chunk| chunk.content.starts_with('|') && chunk.content.ends_with('|')));
    let joined: String = document.chunks.iter().map(|chunk| words(&chunk.content)).collect();
    assert!(joined.starts_with(&words(&format!("长{line}"))) && joined.contains(&words(&rows)));
}

#[test]
fn m15_only_newlines_end_lines() {
    let document = markdown(
        "## 一\n\n前半\u{c}## 甲\u{2028}## 乙\u{85}## 丙\u{2029}## 丁\u{b}## 戊\n\n桑葚\n\n## 二\n\n尾\n",
    );
    assert_eq!(titles(&document), ["一", "二"]);
}

#[test]
fn m16_code_is_no_heading() {
    let text = "# 围栏\n\n## 反引号\n\n```bash\n## 假一\n```\n\n蓝莓\n\n## 波浪线\n\n~~~yaml\n## 假二\n```\n## 假三\n~~~\n\n## 四个\n\n\
                ````markdown\n```sh\n## 假四\n```\n## 假五\n````\n\n## 列表\n\n1. 一\n\n   ```sql\n   ## 假六\n   ```\n\n2. 二\n\n    ## 假七\n\n\
                ## 行内 ```不是围栏``` 继续\n\n草莓\n\n## 没关\n\n```python\n## 假八\n## 假九\n";
    let document = markdown(text);
    let expected = ["围栏", "反引号", "波浪线", "四个", "列表", "行内 ```不是围栏``` 继续", "没关"];
    assert_eq!(titles(&document), expected);
    assert_eq!(title_of(&document, "蓝莓"), "反引号");
    assert_eq!(title_of(&document, "假九"), "没关");
}

#[test]
fn m17_an_edit_changes_only_the_chunk_it_is_in() {
    let before = markdown(DIARY).chunks;
    let edited = DIARY.replace("## 订阅", "## 晨会\n\n九点四十五。\n\n## 订阅").replace("npm", "pnpm");
    let after = markdown(&edited).chunks;
    assert_eq!(after.len(), before.len() + 1);
    assert_eq!(after[2], before[1]);
    assert_ne!(after[3], before[2]);
    assert_eq!(after[4], before[3]);
}

#[test]
fn long_sections_are_cut_between_blocks() {
    let items: String = (0..40).map(|n| format!("- 第 {n} 项要做的事情\n  还有一行说明\n")).collect();
    let fence = format!("```\n{}```\n", "let x = 1;\n".repeat(20));
    let document = markdown(&format!("## 长\n\n{items}\n{fence}\n末段。\n"));
    assert!(document.chunks.len() >= 2);
    let whole_fence = document.chunks.iter().filter(|chunk| chunk.content.contains(fence.trim_end())).count();
    assert_eq!(whole_fence, 1);
    assert!(document
        .chunks
        .iter()
        .all(|chunk| chunk.content.starts_with("- ") || chunk.content.starts_with("```")));
    assert!(titles(&document).iter().all(|title| *title == "长"));
}

#[test]
fn tokens_limit_as_well_as_characters() {
    let tokens = |text: &str| text.len() + 2;
    let options = Options { max_chars: 800, max_tokens: 120, count_tokens: Some(&tokens) };
    let text = format!("## 标题\n\n{}", "这是一句话，说了些什么。".repeat(40));
    let document = split_markdown(&text, &options);
    assert!(document.chunks.len() > 10);
    for chunk in &document.chunks {
        assert!(tokens(&embedded_text(chunk.title.as_deref(), &chunk.content)) <= 120);
        assert!(chunk.content.ends_with('。') || chunk.content.ends_with('，'), "{chunk:?}");
    }
}

#[test]
fn plain_text_has_no_markup() {
    let text = "## 不是标题\n\n---\na: 1\n---\n\n    缩进";
    let chunks = split_text(text, &Options::default());
    assert_eq!(chunks, [Chunk { title: None, content: text.to_owned() }]);
}

/// Texts that make a careless splitter quadratic: with one, these tests would run for minutes.
#[test]
fn long_runs_of_anything_are_fine() {
    let patterns = [
        "x",
        "字",
        " ",
        "\n",
        "x ",
        "。",
        "，",
        "a. ",
        "👨‍👩‍👧",
        "🇨🇳",
        "\u{301}",
        "\u{200d}",
        "> ",
        "- ",
        "> - ",
        "1. ",
        "# ",
        "#",
        "\n## 甲",
        "\n---",
        "\n\n",
        "| a ",
        "*",
        "*a_",
        "_",
        "`",
        "~",
        "[",
        "](",
        "[a](",
        "![",
        "<",
        "<!--",
        "\\",
        "&",
        "\t",
        "  \n",
        "- x\n",
        "> x\n",
        "x\n---\n",
        "[a]: b\n",
        "\n```\n",
        "a|b\n-|-\n",
    ];
    for pattern in patterns {
        assert_split_within_limits(pattern, 40_000);
    }
}

#[test]
fn a_line_of_a_megabyte_is_fine() {
    assert_split_within_limits("x", 1_000_000);
    assert_split_within_limits("说了些什么，", 1_000_000);
}

fn assert_split_within_limits(pattern: &str, size: usize) {
    let text = pattern.repeat(size / pattern.len());
    let document = markdown(&text);
    let plain = split_text(&text, &Options::default());
    for chunk in document.chunks.iter().chain(&plain) {
        assert!(chunk.content.chars().count() <= Options::default().max_chars, "{pattern:?}");
    }
    assert_eq!(words(&text).len(), plain.iter().map(|chunk| words(&chunk.content).len()).sum::<usize>());
}

/// Lines out of which texts with every kind of block come, and every kind of mistake.
fn source() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        r"#{0,7} ?[甲乙ab# ]{0,6}",
        r"[甲乙丙，。！ab.,!?👨\u{200d}👩\u{301}\u{fe0f} ]{0,60}",
        r"[ \t>]{0,5}[-*+|] [甲ab `|]{0,12}",
        r" {0,4}(```|~~~|````|---|===|<!--|-->|\|--\|--\||> |1\. |\[a\]: b)",
        r"\| [甲ab ]{0,9} \| [乙c]{0,9} \|",
        Just(String::new()),
    ];
    prop::collection::vec(line, 0..40).prop_map(|lines| lines.join("\n"))
}

/// `needle` after leaving out characters of `hay`.
fn is_subsequence(needle: &str, hay: &str) -> bool {
    let mut hay = hay.chars();
    needle.chars().all(|c| hay.any(|h| h == c))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn plain_text_is_kept_whole(text in source(), max_chars in 1..60_usize) {
        let options = Options { max_chars, max_tokens: 0, count_tokens: None };
        let joined: String = split_text(&text, &options).iter().map(|chunk| words(&chunk.content)).collect();
        prop_assert_eq!(joined, words(&text));
    }

    #[test]
    fn markdown_is_kept_whole(text in source(), max_chars in 1..60_usize) {
        let options = Options { max_chars, max_tokens: 0, count_tokens: None };
        let document = split_markdown(&text, &options);
        prop_assume!(document.front_matter.is_empty());
        // What is in no chunk is a heading line: its text is in a title, and its marks are nowhere.
        let mut kept: String = document.chunks.iter().map(|chunk| words(&chunk.content)).collect();
        let whole = split_markdown(&text, &Options { max_chars: usize::MAX, ..options });
        prop_assert_eq!(&kept, &whole.chunks.iter().map(|chunk| words(&chunk.content)).collect::<String>());
        for chunk in &document.chunks {
            prop_assert!(!chunk.content.trim().is_empty());
            prop_assert!(!chunk.content.starts_with('\n') && !chunk.content.ends_with('\n'));
            kept.extend(chunk.title.as_deref().map(words));
        }
        kept.extend(document.title.as_deref().map(words));
        for c in words(&text).chars().filter(|c| c.is_alphanumeric()) {
            prop_assert!(kept.contains(c), "{c:?} is lost");
        }
    }

    #[test]
    fn bodies_are_in_order(text in source(), max_chars in 1..60_usize) {
        let options = Options { max_chars, max_tokens: 0, count_tokens: None };
        let outline = outline::read(&text);
        let bodies: String = outline.sections.iter().map(|section| words(section.body)).collect();
        prop_assert!(is_subsequence(&bodies, &text));
        for section in &outline.sections {
            let meter = Meter::new(&options, None);
            let pieces = pack::pack(section.body, &section.cuts, &meter);
            prop_assert_eq!(pieces.iter().map(|piece| words(piece)).collect::<String>(), words(section.body));
        }
    }

    #[test]
    fn limits_hold(text in source(), max_chars in 20..60_usize, max_tokens in 40..90_usize) {
        let tokens = |text: &str| 2 + text.len() / 3 + text.matches('甲').count();
        let options = Options { max_chars, max_tokens, count_tokens: Some(&tokens) };
        for chunk in split_text(&text, &options) {
            prop_assert!(chunk.content.chars().count() <= max_chars);
            prop_assert!(tokens(&chunk.content) <= max_tokens);
        }
    }

    #[test]
    fn a_cluster_is_never_cut(text in r"[ae字。 👨👩👧\u{200d}\u{301}\u{fe0f}🇨🇳]{0,80}", max_chars in 8..20_usize) {
        use unicode_segmentation::UnicodeSegmentation;
        let options = Options { max_chars, max_tokens: 0, count_tokens: None };
        let joined: Vec<String> = split_text(&text, &options)
            .iter()
            .flat_map(|chunk| chunk.content.graphemes(true))
            .map(|cluster| cluster.trim().to_owned())
            .filter(|cluster| !cluster.is_empty())
            .collect();
        // A space may carry an accent; in front of a chunk it goes like any other.
        let expected: Vec<&str> = text.graphemes(true).map(str::trim).filter(|cluster| !cluster.is_empty()).collect();
        prop_assert_eq!(joined, expected);
    }

    #[test]
    fn line_ends_make_no_difference(text in source()) {
        let expected = markdown(&text);
        prop_assert_eq!(&markdown(&text.replace('\n', "\r\n")), &expected);
        prop_assert_eq!(&markdown(&text.replace('\n', "\r")), &expected);
    }
}
