//! Chinese technical terms: 博客订阅系统, 操作系统.
//!
//! A term is known by its last word and goes back over whole words as long as they can be part of a noun. Where it
//! begins is the question: a run-up (做了博客订阅系统, 今天完成博客订阅优化) would make different terms of one thing. Nouns can
//! be part of it, verbs only those that name what a system does (订阅, 搜索); it never begins with a verb that takes
//! the last word as its object (升级系统, 修改配置), nor with one that takes the noun behind it as its object
//! (评审|订单管理系统, but 评审系统). A last word by itself is too general to be a term.

use super::{person, Run, Word};

/// Last words of terms. The first five are those people's notes are full of.
const LAST_WORDS: [&str; 13] = [
    "系统",
    "框架",
    "工具",
    "配置",
    "优化",
    "平台",
    "引擎",
    "插件",
    "算法",
    "协议",
    "架构",
    "模型",
    "数据库",
];

/// Last words that are verbs as well.
const ACTIONS: [&str; 2] = ["配置", "优化"];

/// Behind these they are verbs: 优化了, 配置好.
const AFTER_ACTIONS: &str = "了过着好成得到完下";

/// Most words before the last one.
const MAX_WORDS: usize = 3;

/// Longest term, in characters.
const MAX_CHARS: usize = 12;

/// Words that jieba tags as verbs, or in no useful way, and that stand before the last word of a term.
const PARTS: [&str; 63] = [
    "订阅",
    "知识",
    "推荐",
    "搜索",
    "检索",
    "查询",
    "记忆",
    "评论",
    "备份",
    "监控",
    "编译",
    "翻译",
    "分词",
    "渲染",
    "存储",
    "缓存",
    "支付",
    "登录",
    "认证",
    "审批",
    "结算",
    "排版",
    "打包",
    "构建",
    "爬虫",
    "通知",
    "播放",
    "下载",
    "导航",
    "抓取",
    "同步",
    "索引",
    "压缩",
    "采集",
    "调度",
    "对话",
    "聊天",
    "生成",
    "推送",
    "追踪",
    "跟踪",
    "校验",
    "匹配",
    "路由",
    "代理",
    "加密",
    "测试",
    "部署",
    "开发",
    "学习",
    "管理",
    "配置",
    "优化",
    "自动",
    "向量",
    "前端",
    "后端",
    "全文",
    "增量",
    "离线",
    "在线",
    "开源",
    "分布式",
];

/// Words no term begins with: with them it is something that is done, or any one of its kind.
const ACTS: [&str; 90] = [
    "升级",
    "更新",
    "优化",
    "配置",
    "修改",
    "调整",
    "重构",
    "测试",
    "部署",
    "安装",
    "开发",
    "设计",
    "迁移",
    "维护",
    "调试",
    "学习",
    "研究",
    "管理",
    "使用",
    "达成",
    "签订",
    "签署",
    "装有",
    "主要",
    "整个",
    "同一个",
    "各种",
    "所有",
    "全部",
    "个别",
    "实际",
    "现有",
    "原有",
    "效法",
    "目前",
    "相关",
    "重要",
    "采用",
    "实现",
    "完成",
    "改进",
    "替换",
    "选择",
    "需要",
    "自动",
    "影响",
    "构建",
    "生成",
    "讨论",
    "开会",
    "上线",
    "下线",
    "排查",
    "整理",
    "负责",
    "对接",
    "参加",
    "参与",
    "汇报",
    "验收",
    "复盘",
    "梳理",
    "启动",
    "推进",
    "介绍",
    "试用",
    "购买",
    "卸载",
    "重启",
    "停用",
    "启用",
    "关闭",
    "打开",
    "引入",
    "接入",
    "切换",
    "选型",
    "调研",
    "对比",
    "比较",
    "修复",
    "检查",
    "确认",
    "熟悉",
    "了解",
    "编写",
    "撰写",
    "重写",
    "改造",
    "扩容",
];

/// Where a term begins: the word, and how many of its characters are left out.
pub(super) struct Start {
    pub(super) word: usize,
    pub(super) skipped: usize,
}

/// Where the term begins that ends with the word at `index`, if one does.
pub(super) fn start(run: &Run, index: usize) -> Option<Start> {
    let last = run.word(index)?;
    // Most words do not end like a term.
    let ending = LAST_WORDS.iter().find(|ending| last.text.ends_with(**ending))?;
    // A guess of three characters is a word glued to the ending (对系统).
    let is_longer = last.text.len() > ending.len()
        && (!last.tag.starts_with('v') || last.tag == "vn")
        && (last.chars > 3 || run.is_dictionary_word(last));
    if !is_longer && last.text.len() > ending.len() {
        return None;
    }
    if ACTIONS.contains(ending)
        && run.word(index + 1).is_some_and(|next| next.text.starts_with(is_after_action))
    {
        return None;
    }
    let mut first = index;
    let mut chars = last.chars;
    while first > 0 && index - first < MAX_WORDS {
        let Some(word) = run.word(first - 1) else { break };
        chars += word.chars;
        // A verb may be glued to its object, in the dictionary as in a guess: 测试日志, 开会讨论.
        if chars <= MAX_CHARS && word.chars > 3 {
            match glued(run, word) {
                Glued::No => {}
                Glued::Object(skipped) => return Some(Start { word: first - 1, skipped }),
                Glued::Act => break,
            }
        }
        if chars > MAX_CHARS
            || !is_part(word)
            || word.tag.starts_with("nr") && person::is_person(run, first - 1)
        {
            break;
        }
        first -= 1;
    }
    while first < index && run.word(first).is_some_and(|word| is_act(run, first, word, index)) {
        first += 1;
    }
    (first < index || is_longer).then_some(Start { word: first, skipped: 0 })
}

/// Whether the word at `first` of the term that ends at `last` is something that is done.
fn is_act(run: &Run, first: usize, word: Word, last: usize) -> bool {
    // A verb with a noun behind it that is not yet the last word has that for its object.
    let has_object = first + 1 < last && run.word(first + 1).is_some_and(|next| !is_verbal(next));
    ACTS.contains(&word.text) || word.tag.starts_with('v') && !PARTS.contains(&word.text) && has_object
}

fn is_verbal(word: Word) -> bool {
    word.tag.starts_with('v') || PARTS.contains(&word.text)
}

/// What a word of four characters and more is made of.
enum Glued {
    /// It is one word.
    No,
    /// Something that is done, so many characters long, to what follows it.
    Object(usize),
    /// Something that is done, or nobody knows what.
    Act,
}

fn glued(run: &Run, word: Word) -> Glued {
    // What is managed is no object of an act: 管理系统架构.
    let rest = ACTS.iter().filter(|act| **act != "管理").find_map(|act| word.text.strip_prefix(act));
    let is_word = run.is_dictionary_word(word);
    let Some(rest) = rest.or((!is_word).then_some(word.text)) else { return Glued::No };
    let pieces = run.segmenter.cut(rest, false);
    let last = pieces.last().copied().unwrap_or(rest);
    let part = run.segmenter.tag(last).into_iter().next().map(|(text, tag)| (text.len() == last.len(), tag));
    let chars = last.chars().count();
    let known =
        Word { text: last, tag: part.map_or("x", |part| part.1), at: word.at, byte: word.byte, chars };
    if ACTS.contains(&last) {
        Glued::Act
    } else if last.len() < word.text.len() && part.is_some_and(|part| part.0) && is_part(known) {
        Glued::Object(word.chars - chars)
    } else if is_word {
        Glued::No
    } else {
        Glued::Act
    }
}

fn is_after_action(c: char) -> bool {
    AFTER_ACTIONS.contains(c)
}

/// Whether the word can be part of a term.
fn is_part(word: Word) -> bool {
    word.chars >= 2
        && (PARTS.contains(&word.text)
            || word.tag.starts_with('n')
            || matches!(word.tag, "vn" | "an" | "j" | "b")
            || word.tag == "l" && word.chars >= 3)
}
