"""The texts of `reference.json`: what an embedder easily gets wrong, and ordinary diary sentences.

Characters that cannot be seen are written as escapes. Each text is used as it is, with the prefix
of its kind before it.
"""

from __future__ import annotations

PASSAGE = "passage"
QUERY = "query"

SIMPLIFIED = (
    "今天天气很好",
    "我昨天去超市买了苹果和香蕉",
    "我开车去上班",
    "周三下午和王磊开会，决定把数据库从三台减到两台，月底前完成迁移。",
    "猫粮换成低敏款之后，它不再抓耳朵了；下周二复诊，记得带疫苗本。",
    "茶",
)
TRADITIONAL = (
    "繁體字與简体字",
    "臺北捷運淡水信義線週末延長營運至凌晨一點",
    "媽媽說廣東話，爺爺說閩南語，我們在家裡講國語。",
)
ENGLISH = (
    "I bought apples and bananas at the supermarket yesterday.",
    "The nightly backup failed: disk /dev/sdb1 is 98 % full, so old snapshots have to go.",
    "It's a state-of-the-art, well-known co-operation; don't re-run it.",
)
MIXED = (
    "混排ABCabc123，。！",
    "把 PostgreSQL 从 v17.4 升级到 v18，顺便开启 io_uring，参考 https://example.org/a?b=1#c",
    "用Node.js写了一个RSS订阅脚本，GPT-4o负责写摘要，session_key_v2存在~/.cache里",
    'async fn main() -> Result<(), Error> { println!("你好"); Ok(()) }',
)
EMOJI = (
    "👨\u200d👩\u200d👧 家庭",
    "🎉🎉 项目上线了 🚀❤\ufe0f",
    "👍🏽 好的，明天 9:00 见 🇨🇳",
)
WIDTH_AND_COMPATIBILITY = (
    "ｶﾞ行 が",
    "naïve café ①②㈱",
    "Ⅷ 号楼 ½",
    "ＡＢＣ１２３，全角　空格",
    "e\u0301 decomposed, \ufb01 ligature, Å and \u212b",
)
INVISIBLE = (
    "\u200b零宽",
    "零\u200b宽\u200d字\ufeff符\u2060在中间",
    "tab\tand\nnew line\r\nand  two   spaces\u00a0",
    "soft\u00adhyphen and \u202eright-to-left\u202c marks",
)
SPECIAL_LITERALS = (
    "正文里写了[CLS] [SEP] [PAD] [MASK] <s> </s> <pad> 几个记号",
    "<mask>",
    "query: passage: <unk>",
)
UNKNOWN = (
    "生僻字 𠮷野家 𪚥 龘",
    "𓀀𓀁 古埃及",
    "═║╔🎬 制表符",
)
QUERIES = (
    "水果",
    "通勤",
    "我之前买了什么水果？",
    "how do I get to work",
    "資料庫什麼時候遷移",
    "猫 不舒服 看医生",
)

_DIARY_ZH = (
    "早上七点起床，先给阳台的番茄浇水，新长出来的叶子有点发黄，可能是肥料放得太多。",
    "八点半到公司，和李雯核对了第三季度的报表，发现有两笔退款没有记进去。",
    "中午在楼下吃了牛肉面，顺便去药店买了过敏药和一盒口罩。",
    "下午的评审会开了两个小时，大家同意先做搜索，再做图谱，登录页面推迟到下个版本。",
    "会后把服务器的日志保留期从三十天改成九十天，磁盘占用涨了百分之十二。",
    "傍晚陪孩子练琴，她终于把第二段弹顺了，老师建议下个月报名考级。",
    "晚上读完《额尔古纳河右岸》的第四章，记下两句话准备写进读书笔记。",
    "睡前给妈妈打电话，她说膝盖好多了，但是医生让她少爬楼梯。",
)
_DIARY_EN = (
    "We moved the search service to the new machine and it now answers in forty milliseconds.",
    "Anna asked for the list of customers who pay in two currencies, which nobody ever counted.",
    "The garden needs a new fence before the first storms of autumn arrive from the coast.",
    "I finally understood why the import was slow: every row was parsed three times.",
    "For dinner there was lentil soup with roasted carrots, and the recipe is worth keeping.",
    "The train was late again, so I read half of the book about the history of maps.",
)


def _long(sentences: tuple[str, ...], count: int, separator: str) -> str:
    """A text of about 500 tokens: the sentences in turn, numbered, so that no two are the same."""
    lines = [f"{i + 1}. {sentences[i % len(sentences)]}" for i in range(count)]
    return separator.join(lines)


LONG = (
    _long(_DIARY_ZH, 18, "\n"),
    _long(_DIARY_EN, 23, " "),
)


def all_texts() -> list[tuple[str, str]]:
    """Every text with its kind, in the order of `reference.json`."""
    passages = (
        *SIMPLIFIED,
        *TRADITIONAL,
        *ENGLISH,
        *MIXED,
        *EMOJI,
        *WIDTH_AND_COMPATIBILITY,
        *INVISIBLE,
        *SPECIAL_LITERALS,
        *UNKNOWN,
        *LONG,
    )
    return [(text, PASSAGE) for text in passages] + [(text, QUERY) for text in QUERIES]
