//! Reads the structure of a Markdown text: its sections, their titles, and where their blocks may be cut.
//!
//! It measures nothing and copies no content. Headings are those of CommonMark at the top level, so not those in
//! fences, comments, quotations and lists. What must hold: the bodies of the sections are slices of the text, in
//! order, and whatever lies outside of them is a heading line.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use crate::boundary::{Cut, Strength};
use crate::pack::is_blank;
use crate::slice;

/// Between the headings of a trail.
const TRAIL_SEPARATOR: &str = " > ";

/// A longer heading is a paragraph by mistake (a line of dashes below it, for instance). Its start is title enough;
/// in full it goes into the content.
const MAX_HEADING_CHARS: usize = 200;

/// A Markdown text.
pub(crate) struct Outline<'t> {
    /// The first level-1 heading.
    pub(crate) title: Option<String>,
    pub(crate) sections: Vec<Section<'t>>,
}

/// What stands between two headings.
pub(crate) struct Section<'t> {
    /// The heading trail.
    pub(crate) title: Option<String>,
    /// The text of the heading, if it would be lost or incomplete without being content too.
    pub(crate) heading_in_content: Option<String>,
    pub(crate) body: &'t str,
    /// Block borders in `body`.
    pub(crate) cuts: Vec<Cut>,
}

struct Heading<'t> {
    level: HeadingLevel,
    /// Its raw inline source, on one line.
    text: String,
    /// What follows up to the next heading.
    body: &'t str,
    body_start: usize,
}

impl Heading<'_> {
    fn has_body(&self) -> bool {
        !is_blank(self.body)
    }
}

/// Reads `text`, whose lines end in LF.
pub(crate) fn read(text: &str) -> Outline<'_> {
    let (ranges, cuts) = parse(text);
    let end_of_body = |index: usize| ranges.get(index).map_or(text.len(), |(_, range)| range.start);
    let headings: Vec<Heading> = ranges
        .iter()
        .enumerate()
        .map(|(index, (level, range))| Heading {
            level: *level,
            text: heading_text(slice(text, range.start, range.end)),
            body: slice(text, range.end, end_of_body(index + 1)),
            body_start: range.end,
        })
        .collect();

    // Text in front of the first heading belongs to the document as a whole.
    let body = slice(text, 0, end_of_body(0));
    let title =
        headings.first().filter(|first| first.level == HeadingLevel::H1).map(|first| shorten(&first.text));
    let mut sections = Vec::with_capacity(headings.len() + 1);
    sections.push(Section { title, heading_in_content: None, body, cuts: cuts_of(body, 0, &cuts) });

    let mut document_title: Option<String> = None;
    let mut trail: Vec<(HeadingLevel, String)> = Vec::new();
    let mut following = headings.as_slice();
    while let Some((heading, after)) = following.split_first() {
        following = after;
        let short = shorten(&heading.text);
        // Whether all of the heading's text is read in the title of some chunk, or in that of the document.
        let mut in_a_title = short == heading.text && (heading.has_body() || heads_a_chunk(heading, after));
        let title;
        if heading.level == HeadingLevel::H1 {
            trail.clear();
            title = short;
            if document_title.is_none() && !heading.text.is_empty() {
                document_title = Some(heading.text.clone());
            }
            // It is in no trail: without text of its own it would be found by no search.
            in_a_title &= heading.has_body();
        } else {
            trail.retain(|(level, _)| *level < heading.level);
            trail.push((heading.level, short));
            let parts: Vec<&str> =
                trail.iter().map(|(_, part)| part.as_str()).filter(|part| !part.is_empty()).collect();
            title = parts.join(TRAIL_SEPARATOR);
        }
        sections.push(Section {
            title: Some(title),
            heading_in_content: Some(heading.text.clone()).filter(|_| !in_a_title),
            body: heading.body,
            cuts: cuts_of(heading.body, heading.body_start, &cuts),
        });
    }
    Outline { title: document_title, sections }
}

/// Whether one of the headings below `heading` leads to a chunk: one with text or body always does, in itself or
/// below it.
fn heads_a_chunk(heading: &Heading, after: &[Heading]) -> bool {
    after
        .iter()
        .take_while(|below| below.level > heading.level)
        .any(|below| !below.text.is_empty() || below.has_body())
}

/// Those of `cuts`, which are places in the whole text, that lie inside `body`, as places in `body`.
fn cuts_of(body: &str, body_start: usize, cuts: &[Cut]) -> Vec<Cut> {
    let first = cuts.partition_point(|cut| cut.at <= body_start);
    cuts.iter()
        .skip(first)
        .map(|cut| Cut { at: cut.at - body_start, ..*cut })
        .take_while(|cut| cut.at < body.len())
        .collect()
}

/// The headings at the top level and the block borders, both in order.
fn parse(text: &str) -> (Vec<(HeadingLevel, Range<usize>)>, Vec<Cut>) {
    let mut headings = Vec::new();
    let mut borders = Borders { text, cuts: Vec::new(), end_of_line: 0 };
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                match tag {
                    Tag::Heading { level, .. } if depth == 0 => {
                        headings.push((level, range.clone()));
                    }
                    Tag::CodeBlock(_) => {
                        borders.add(range.start, strength_at(depth));
                        borders.add_lines(range);
                    }
                    Tag::Paragraph
                    | Tag::Heading { .. }
                    | Tag::BlockQuote(_)
                    | Tag::HtmlBlock
                    | Tag::List(_)
                    | Tag::Item
                    | Tag::Table(_)
                    | Tag::TableRow => borders.add(range.start, strength_at(depth)),
                    _ => {}
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Rule => borders.add(range.start, strength_at(depth)),
            _ => {}
        }
    }
    (headings, borders.cuts)
}

fn strength_at(depth: usize) -> Strength {
    match depth {
        0 => Strength::Block,
        1 => Strength::Part,
        _ => Strength::Detail,
    }
}

/// Collects places to cut at, in order, at most one a line.
struct Borders<'t> {
    text: &'t str,
    cuts: Vec<Cut>,
    /// Up to here the line of the last block reaches; what starts before stands inside or beside that block.
    end_of_line: usize,
}

impl Borders<'_> {
    /// Adds the start of a block if nothing but indentation and quotation marks stand before it on its line, which
    /// is not so for the first block of a list item.
    fn add(&mut self, start: usize, strength: Strength) {
        if start < self.end_of_line {
            return;
        }
        let before = slice(self.text, 0, start);
        let line_start = before.trim_end_matches([' ', '\t', '>']);
        if line_start.is_empty() || line_start.ends_with('\n') {
            self.cut_behind(line_start.trim_end().len(), strength);
        }
        let line = self.text.get(start..).and_then(|rest| rest.find('\n'));
        self.end_of_line = line.map_or(self.text.len(), |newline| start + newline + 1);
    }

    /// Adds the ends of the lines of a code block.
    fn add_lines(&mut self, range: Range<usize>) {
        let block = slice(self.text, range.start, range.end);
        for (newline, _) in block.match_indices('\n') {
            // Blank lines are cut off once, in front of the first of them.
            if !slice(block, 0, newline).ends_with('\n') {
                self.cut_behind(range.start + newline, Strength::Line);
            }
        }
        self.end_of_line = self.end_of_line.max(range.end);
    }

    fn cut_behind(&mut self, at: usize, strength: Strength) {
        if at > self.cuts.last().map_or(0, |cut| cut.at) {
            self.cuts.push(Cut { at, strength });
        } else if let Some(last) = self.cuts.last_mut().filter(|cut| cut.at == at) {
            last.strength = last.strength.min(strength);
        }
    }
}

/// The raw inline source of a heading: no marks, no closing `#`s, on one line.
fn heading_text(source: &str) -> String {
    let source = source.trim();
    if let Some((lines, _underline)) = source.rsplit_once('\n') {
        return lines.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    }
    let text = source.trim_start_matches('#').trim();
    let without = text.trim_end_matches('#');
    if without.is_empty() || without.ends_with([' ', '\t']) {
        without.trim_end().to_owned()
    } else {
        text.to_owned()
    }
}

fn shorten(heading: &str) -> String {
    match heading.char_indices().nth(MAX_HEADING_CHARS) {
        None => heading.to_owned(),
        Some((end, _)) => format!("{}…", slice(heading, 0, end).trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(text: &str) -> Vec<String> {
        read(text).sections.into_iter().filter_map(|section| section.title).collect()
    }

    #[test]
    fn heading_sources() {
        let cases = [
            ("## 甲", "甲"),
            ("##", ""),
            ("## ##", ""),
            ("##\t甲 ##  ", "甲"),
            ("## C#", "C#"),
            ("## 甲 \\#", "甲 \\#"),
            ("# `a` **b** [c](d)", "`a` **b** [c](d)"),
            ("#没有空格\n---", "#没有空格"),
            ("第一行\n   第二行\n-----", "第一行 第二行"),
        ];
        for (source, expected) in cases {
            assert_eq!(heading_text(source), expected, "{source:?}");
        }
    }

    #[test]
    fn trails_follow_the_levels() {
        let text = "# T\n## A\n### B\n#### C\n### D\n## E\n#### F\n##\n### G\n# U\n### H\n";
        let expected = ["T", "T", "A", "A > B", "A > B > C", "A > D", "E", "E > F", "", "G", "U", "H"];
        assert_eq!(titles(text), expected);
    }

    #[test]
    fn a_heading_above_nothing_is_content() {
        for (text, content) in [
            ("## 甲\n### 乙\n", [None, Some("乙")]),
            ("## 甲\n###\n", [Some("甲"), Some("")]),
            ("## 甲\n###\n文", [None, None]),
            ("## 甲\n##\n### 乙\n", [Some("甲"), None]),
            ("# 甲\n# 乙\n", [Some("甲"), Some("乙")]),
        ] {
            let sections = read(text).sections;
            let found: Vec<_> =
                sections.iter().skip(1).take(2).map(|s| s.heading_in_content.as_deref()).collect();
            assert_eq!(found, content, "{text:?}");
        }
    }

    #[test]
    fn a_setext_heading_needs_its_paragraph() {
        assert_eq!(titles("正文\n\n---\n\n一\n---\n\n- 项\n---\n"), ["一"]);
        assert_eq!(read("题\n===\n\n文").title.as_deref(), Some("题"));
    }

    #[test]
    fn a_definition_above_a_setext_heading_is_kept() {
        let outline = read("[a]: /url\n题\n---\n文\n");
        let all: String = outline.sections.iter().map(|section| section.body).collect();
        let titles: String = outline.sections.iter().filter_map(|section| section.title.clone()).collect();
        assert!(format!("{all}{titles}").contains("/url"), "{all:?} {titles:?}");
    }

    #[test]
    fn a_paragraph_taken_for_a_heading_stays_content() {
        let text = format!("{}\n---\n文", "很长".repeat(150));
        let outline = read(&text);
        let section = outline.sections.last().unwrap();
        assert_eq!(section.title.as_ref().unwrap().chars().count(), MAX_HEADING_CHARS + 1);
        assert_eq!(section.heading_in_content.as_ref().unwrap().chars().count(), 300);
    }

    #[test]
    fn blocks_are_borders() {
        let text = "段\n\n- 一\n- 二\n\n  段\n\n  ```\n  x\n\n\n  y\n  ```\n- 三\n\n> 引\n>\n> 文\n\n| a |\n|---|\n| 1 |\n| 2 |\n";
        let outline = read(text);
        let section = &outline.sections[0];
        let mut from = 0;
        let mut parts = Vec::new();
        for cut in &section.cuts {
            parts.push((section.body[from..cut.at].trim(), cut.strength));
            from = cut.at;
        }
        use Strength::*;
        assert_eq!(
            parts,
            [
                ("段", Block),
                ("- 一", Part),
                ("- 二", Detail),
                ("段", Detail),
                ("```", Line),
                ("x", Line),
                ("y", Line),
                ("```", Part),
                ("- 三", Block),
                ("> 引\n>", Part),
                ("> 文", Block),
                ("| a |\n|---|", Part),
                ("| 1 |", Part),
            ]
        );
    }
}
