//! Persons in Chinese text.
//!
//! Measured on encyclopedia text, jieba's guess of a person is right for more than nine of ten names of three
//! characters that begin with one of the surnames below, and for hardly half of the others. The surnames are the
//! frequent ones without those that begin ordinary words (安, 白, 高, 金, 文, 于 …). Given names by themselves (晓彤) are not
//! found: they belong into the users' words.

use super::{Run, Word, INSTITUTIONS};

/// Frequent surnames.
const SURNAMES: &str = "王李张刘陈杨赵吴周徐孙朱胡郭何林罗郑梁谢宋唐许邓冯韩曹曾彭肖萧蔡潘董袁余叶蒋杜苏魏程吕\
丁沈姚卢傅钟姜崔谭廖范汪陆贾韦夏邱侯邹熊孟秦薛尹段史陶贺顾郝龚邵钱严赖施樊葛邢齐庞颜倪聂翟殷詹焦俞阮柯霍靳窦瞿宫";

/// Surnames of two characters.
const DOUBLE_SURNAMES: [&str; 10] =
    ["欧阳", "司马", "诸葛", "上官", "慕容", "皇甫", "令狐", "司徒", "夏侯", "公孙"];

/// Surnames that begin ordinary words too: they are some only before a form of address of more characters.
const ADDRESSED_SURNAMES: &str =
    "黄高白安金文于马方石田任万武戴孔康毛江常汤黎易洪龙包左申管祁柴成牛洗覃关柳华游麦甘桂";

/// Forms of address of one character behind a surname.
const SHORT_TITLES: [char; 13] =
    ['总', '工', '姐', '哥', '叔', '婶', '嫂', '爷', '姨', '董', '局', '导', '院'];

/// Forms of address of more characters behind a surname.
const TITLES: [&str; 34] = [
    "老师", "医生", "大夫", "师傅", "经理", "教授", "博士", "先生", "女士", "小姐", "太太", "同学", "主任",
    "阿姨", "叔叔", "总监", "奶奶", "爷爷", "伯伯", "大爷", "大妈", "大姐", "大哥", "同志", "总裁", "老板",
    "律师", "校长", "院长", "部长", "局长", "护士", "师兄", "师姐",
];

/// Last characters that no given name has, and those of places and things that begin like a surname.
const NOT_GIVEN: &str = "的了着过说道等在于是有为及与和被把就也都又再去来到给让跟做写用看听问市县镇村湖山江河路街线桥庙湾岭洲岗墩\
渡沟塔寨井泊界堡氏军证花卜类型性度率机器品物食菜肉饭面汤池表鸡鸭鱼虾郡区岛州府省国族语素式称广之队杯奖站馆寺殿城门园楼从由因但而或\
则已将";

/// What is called by a name before it, besides institutions.
const HOUSES: [&str; 14] = [
    "酒店",
    "饭店",
    "宾馆",
    "大厦",
    "广场",
    "商场",
    "餐厅",
    "度假村",
    "号",
    "牌",
    "品牌",
    "乐园",
    "大道",
    "大桥",
];

/// Ordinary words that jieba may take for a person; those of the dictionary need not be here.
const NOT_PERSONS: [&str; 8] = ["周末", "周报", "程序", "何必", "何谓", "施工", "余额", "余量"];

/// Ordinary words of 老 or 小 and a surname.
const NOT_NICKNAMES: [&str; 13] =
    ["小史", "小叶", "小夏", "小宫", "小段", "小熊", "小程", "小苏", "小许", "小钱", "老夏", "老赖", "老许"];

/// Before a measure word that is a surname as well: 那张表, 一段时间.
const BEFORE_MEASURES: &str = "这那哪每各某几两半一二三四五六七八九十百千万多整第";

/// Whether the word at `index`, which jieba tags as a person, is one.
pub(super) fn is_person(run: &Run, index: usize) -> bool {
    let Some(word) = run.word(index) else { return false };
    if word.tag == "nrt" {
        // Foreign names. The dictionary has peoples, lands and, by mistake, phrases among them.
        return word.chars >= 3
            && !word.text.ends_with(is_not_foreign)
            && !word.text.starts_with(is_native)
            && !run.word(index + 1).is_some_and(|next| is_house(next.text))
            && run.is_dictionary_word(word);
    }
    let double = DOUBLE_SURNAMES.iter().any(|surname| word.text.starts_with(surname));
    if double && (3..=4).contains(&word.chars) {
        return !word.text.ends_with(is_not_given);
    }
    if !has_surname(word) || NOT_PERSONS.contains(&word.text) || is_measured(run, index) {
        return false;
    }
    match word.chars {
        2 => {
            word.text.ends_with(SHORT_TITLES)
                || !word.text.ends_with(is_not_given) && !run.is_dictionary_word(word)
        }
        3 => !word.text.ends_with(is_not_given) && !goes_on(run, index),
        _ => false,
    }
}

/// The characters of the person, if one begins with the word at `index` by form of address: 王老师, 钱|师傅, 张总|说, 老王.
pub(super) fn addressed(run: &Run, index: usize) -> Option<usize> {
    let word = run.word(index)?;
    if word.chars == 1 {
        let title = run.word(index + 1)?;
        let is_nicknamed =
            matches!(word.text, "老" | "小") && is_surname(title) && title.tag.starts_with("nr");
        if is_nicknamed && !is_measured(run, index) {
            return Some(2);
        }
        let may_be = is_surname(word) || ADDRESSED_SURNAMES.contains(word.text);
        let is_titled = may_be && TITLES.contains(&title.text) && !is_measured(run, index);
        return is_titled.then_some(1 + title.chars);
    }
    let mut chars = word.text.chars();
    let (first, second) = (chars.next()?, chars.next()?);
    if word.chars == 2 {
        let nicknamed = matches!(first, '老' | '小') && SURNAMES.contains(second);
        // The dictionary calls 老张 a noun.
        let is_one = word.tag.starts_with("nr") || run.is_dictionary_word(word);
        return (nicknamed && is_one && !NOT_NICKNAMES.contains(&word.text)).then_some(2);
    }
    let titled =
        has_surname(word) && TITLES.iter().any(|title| word.text.get(first.len_utf8()..) == Some(title));
    if titled {
        return Some(word.chars);
    }
    let cut_wrong =
        word.chars == 3 && word.tag.starts_with("nr") && has_surname(word) && !is_measured(run, index);
    (cut_wrong && SHORT_TITLES.contains(&second)).then_some(2)
}

/// How many words the person has whose first word is at `index`: a guess may leave the last character behind
/// (林知|远).
pub(super) fn words(run: &Run, index: usize) -> usize {
    let (Some(word), Some(next)) = (run.word(index), run.word(index + 1)) else { return 1 };
    let is_rest = word.chars == 2
        && next.chars == 1
        && matches!(next.tag, "a" | "n" | "ng" | "g" | "ag" | "nr" | "x")
        && !next.text.ends_with(is_not_given)
        && !word.text.ends_with(SHORT_TITLES)
        && run.word(index + 2).is_none();
    1 + usize::from(is_rest)
}

/// Whether the guess at `index` is the beginning of a longer name: another guess follows (施华洛|世奇).
fn goes_on(run: &Run, index: usize) -> bool {
    run.word(index + 1)
        .is_some_and(|next| next.chars == 2 && next.tag.starts_with('n') && !run.is_dictionary_word(next))
}

/// Whether the word is a house that a name before it belongs to.
fn is_house(word: &str) -> bool {
    INSTITUTIONS.contains(&word) || HOUSES.contains(&word)
}

fn is_not_foreign(c: char) -> bool {
    "人世文语里帝部族教州郡省市国河岛".contains(c)
}

fn is_native(c: char) -> bool {
    "努在家山镇二三五孝不".contains(c)
}

fn is_not_given(c: char) -> bool {
    NOT_GIVEN.contains(c)
}

fn has_surname(word: Word) -> bool {
    word.text.starts_with(|c| SURNAMES.contains(c))
}

fn is_surname(word: Word) -> bool {
    word.chars == 1 && has_surname(word)
}

/// Whether a number or the like stands before the word at `index`.
fn is_measured(run: &Run, index: usize) -> bool {
    let ahead = index.checked_sub(1).and_then(|ahead| run.word(ahead));
    ahead.is_some_and(|word| word.text.ends_with(|c| BEFORE_MEASURES.contains(c)))
}
