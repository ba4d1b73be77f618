//! Chinese technical terms: 博客订阅系统, 操作系统.
//!
//! A term is known by its last word and goes back over whole words as long as they can be part of a noun. Where it
//! begins is the question: a run-up (做了博客订阅系统, 今天完成博客订阅优化) would make different terms of one thing. Nouns can
//! be part of it, verbs only those that name what a system does (订阅, 搜索); it never begins with a verb that takes
//! the last word as its object (升级系统, 修改配置). A last word by itself is too general to be a term.

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
const PARTS: [&str; 62] = [
    "订阅",
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
const ACTS: [&str; 48] = [
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
];

/// The first word of the term that ends with the word at `index`, if one does.
pub(super) fn first_word(run: &Run, index: usize) -> Option<usize> {
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
        if chars > MAX_CHARS
            || !is_part(word)
            || word.tag.starts_with("nr") && person::is_person(run, first - 1)
        {
            break;
        }
        first -= 1;
    }
    while first < index && run.word(first).is_some_and(|word| ACTS.contains(&word.text)) {
        first += 1;
    }
    (first < index || is_longer).then_some(first)
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
