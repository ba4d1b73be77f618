"""A made-up Chinese diary of any size, and questions about it: what the benches store and ask.

What it is for: the same text on every machine, as varied as a template grammar can be, with the shape of a
real diary: one Markdown file a day, headings, lists, English names, numbers, tags.

What it is not: a test of quality. Nobody labelled the answers, and the sentences repeat themselves more than
people do.

What must hold: everything follows from the arguments alone. No clock, no file, no global random state.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

FIRST_DAY = date(2026, 1, 1)
WEEKDAYS = "一二三四五六日"
# Sections of five days in a row. With the lines above them 768 chunks in 80 days, the scale of the published
# design.
SECTIONS_OF_A_DAY = (9, 9, 9, 8, 8)
SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Topic:
    """What one kind of section says, and what people ask about it."""

    tag: str
    headings: tuple[str, ...]
    sentences: tuple[str, ...]
    questions: tuple[str, ...]


SLOTS: dict[str, tuple[str, ...]] = {
    slot: tuple(words.split())
    for slot, words in {
        "fruit": "苹果 香蕉 草莓 蓝莓 车厘子 猕猴桃 砂糖橘 火龙果 柚子 菠萝 榴莲 水蜜桃 葡萄 哈密瓜",
        "dish": "红烧肉 清蒸鲈鱼 番茄炒蛋 麻婆豆腐 酸菜鱼 宫保鸡丁 蚝油生菜 糖醋排骨 冬瓜丸子汤 葱油拌面 "
        "小炒黄牛肉 白切鸡 腌笃鲜 地三鲜 干煸四季豆",
        "shop": "超市 菜市场 便利店 山姆会员店 盒马 小区门口的水果店 批发市场 楼下的杂货铺",
        "person": "晓彤 小满 老周 孟总 钱师傅 阿杰 林姐 老丈人 王老师 陈医生 表哥 邻居张阿姨 "
        "同事小何 妈妈 爸爸",
        "city": "苏州 杭州 南京 上海 成都 西安 青岛 厦门 昆明 长沙 大理 哈尔滨 桂林 泉州",
        "sight": "古城墙 博物馆 植物园 老码头 湖边栈道 夜市 美术馆 茶园 海边灯塔 石窟 森林公园 钟楼",
        "road": "东环高架 金鸡湖大道 滨河路 南环隧道 中山北路 机场快速路 人民桥 解放西路",
        "vehicle": "地铁三号线 公交十八路 共享单车 自己的车 网约车 高铁 摩托车 轮渡",
        "front": "Vue React Svelte TypeScript Vite Tailwind Astro Next.js Pinia Playwright Storybook WebGL",
        "back": "PostgreSQL Redis Kafka Nginx Docker Kubernetes gRPC Rust Go FastAPI RabbitMQ Elasticsearch "
        "pgvector MinIO Prometheus Grafana",
        "fault": "连接池耗尽 内存泄漏 证书过期 死锁 缓存击穿 磁盘写满 时区错乱 消息重复消费 主从延迟 慢查询 "
        "跨域报错 首屏白屏 样式错位 依赖冲突 编码乱码",
        "device": "路由器 投影仪 洗碗机 扫地机器人 净水器 空调 热水器 打印机 光猫 门锁 "
        "NAS 显示器 音响 摄像头",
        "symptom": "断网 漏水 噪音很大 不制热 指示灯闪红 连不上手机 自动重启 遥控失灵 速度只有一半 死机",
        "sport": "慢跑 游泳 骑车 羽毛球 瑜伽 爬山 跳绳 力量训练 打太极 篮球",
        "ache": "膝盖 肩膀 腰 手腕 脖子 脚踝 眼睛 牙 嗓子 胃",
        "book": "《活着》 《三体》 《人类简史》 《设计数据密集型应用》 《城南旧事》 《小王子》 《百年孤独》 "
        "《乡土中国》 《代码整洁之道》 《长安的荔枝》 《围城》 《置身事内》",
        "feeling": "很踏实 有点累 特别开心 松了一口气 很意外 有些遗憾 心里发慌 相当满意 哭笑不得",
        "bill": "电费 水费 燃气费 物业费 宽带费 停车费 房贷 车险 学费 会员费",
        "bank": "招商银行 工商银行 余额宝 公积金账户 信用卡 证券账户",
        "plant": "绿萝 月季 多肉 薄荷 栀子花 龟背竹 番茄苗 茉莉 蝴蝶兰 吊兰 君子兰 小葱",
        "pet": "橘猫团团 金毛豆包 仓鼠 鹦鹉 乌龟 金鱼",
        "lesson": "数学 英语 语文 钢琴 围棋 科学实验 游泳课 画画 编程课 书法",
        "film": "《流浪地球》 《哪吒之魔童降世》 《霸王别姬》 《千与千寻》 《星际穿越》 《长津湖》 "
        "《疯狂动物城》",
        "project": "记忆系统 博客改版 订单中心 数据看板 小程序 网关重构 搜索服务 报表平台 推荐引擎 权限系统",
        "moment": "早上七点 上午十点 中午 下午三点 傍晚 晚上八点 半夜 周末",
        "weather": "小雨 大雾 晴天 雷阵雨 下雪 沙尘 台风 阴天 高温 倒春寒",
        "festival": "春节 元宵节 清明 端午 中秋 国庆 生日 结婚纪念日",
        "file": "src/pages/rss.xml.ts config/nginx.conf docker-compose.yml sql/schema.sql scripts/deploy.sh "
        "notes/design.md reports/redirects.csv",
        "n": " ".join(str(n) for n in (2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 24, 30, 36, 45, 60, 90)),
        "yuan": " ".join(
            str(n) for n in (9.9, 18, 26, 38.5, 52, 68.6, 99, 128, 210, 330, 460, 799, 1280, 2600)
        ),
        "version": "v1.2.3 v2.0.0 v0.9.14 v3.11 v18.6 v1.28.0 v4.5-beta",
    }.items()
} | {
    "fault_en": (
        "connection refused",
        "out of memory",
        "permission denied",
        "timeout expired",
        "502 Bad Gateway",
    )
}

TOPICS = (
    Topic(
        "采购",
        ("{moment}采购", "去{shop}", "买{fruit}", "囤货清单"),
        (
            "{moment}和{person}去{shop}，买了{fruit}和{fruit}，一共 {yuan} 元。",
            "{fruit}比上周便宜，一斤只要 {yuan} 元，挑了 {n} 个带回家。",
            "{shop}的{fruit}不新鲜，换了一家，{person}说要先闻一闻再买。",
            "冰箱里还剩 {n} 盒酸奶和半袋{fruit}，下次别重复买。",
            "- 鸡蛋 {n} 个、牛奶 {n} 盒、纸巾一提，会员价 {yuan} 元。",
            "{fruit}放在阴凉的地方能存 {n} 天，切开以后当天吃完。",
        ),
        (
            "我之前在{shop}买了什么水果？",
            "上次买{fruit}花了多少钱",
            "{fruit}怎么保存比较好？",
            "和{person}一起去{shop}买东西",
        ),
    ),
    Topic(
        "厨房",
        ("晚饭", "{dish}", "跟{person}学做菜", "午饭"),
        (
            "{person}做了{dish}，火候刚好，{person}吃了两碗饭。",
            "{dish}的关键是先焯水再下锅，小火炖 {n} 分钟，最后收汁。",
            "第一次做{dish}，盐放多了，下次减半，再加一点糖提鲜。",
            "晚饭是{dish}和{dish}，配米饭，饭后切了一盘{fruit}。",
            "{person}不吃辣，所以{dish}没放辣椒，味道淡一些也不错。",
            "菜谱记在 `{file}`，调料比例是生抽 {n} 克、老抽 {n} 克。",
        ),
        ("{dish}怎么做才好吃？", "{person}最喜欢吃什么菜", "上次做{dish}哪里失败了", "晚饭吃了{dish}"),
    ),
    Topic(
        "通勤",
        ("开车去上班", "{road}堵车", "{vehicle}通勤", "路况"),
        (
            "{moment}坐{vehicle}去公司，路上花了 {n} 分钟，比平时慢。",
            "{road}又堵了，{weather}天大家都开得慢，改走{road}。",
            "加油 {n} 升，花了 {yuan} 元，百公里油耗 {n} 点几。",
            "{person}顺路捎了我一段，聊了一路{project}的进度。",
            "下班走{road}要 {n} 分钟，走{road}多三公里但是稳定。",
            "停车费这个月涨到 {yuan} 元，准备改坐{vehicle}。",
        ),
        ("我平时怎么通勤？", "{road}什么时候最堵", "坐{vehicle}上班要多久？", "{weather}天怎么去公司"),
    ),
    Topic(
        "前端",
        ("{front} 升级", "首页性能", "{front} 踩坑", "组件重构"),
        (
            "把项目从 {front} 换到 {front}，打包体积从 {n}0KB 降到 {n}KB。",
            "{front} 的热更新在 {version} 里有问题，表现是{fault}，回退一个版本就好。",
            "组件拆成三层，状态放进 {front}，{person}评审时觉得清楚多了。",
            "- [x] 修复{fault}，原因在 `{file}` 第 {n} 行。",
            "Lighthouse 从 {n} 分提高到 9{n} 分，主要是图片懒加载和字体子集。",
            "用 {front} 写了 {n} 个端到端用例，覆盖登录、搜索和导出。",
        ),
        (
            "我最近使用的前端技术有哪些？",
            "{front} 升级遇到了什么问题",
            "{front} 怎么解决{fault}",
            "首页{fault}怎么修",
        ),
    ),
    Topic(
        "后端",
        ("{back} 故障", "{back} 调优", "{fault}排查", "{project}接口"),
        (
            "{moment}报警：{back} {fault}，持续 {n} 分钟，影响{project}。",
            "日志里全是 `{fault_en}`，最后发现是 {back} 的超时设成了 {n} 毫秒。",
            "给 {back} 加了索引和缓存，P99 从 {n}00ms 降到 {n}ms。",
            "{back} 升到 {version}，配置在 `{file}`，灰度 {n}% 的流量观察一天。",
            "根因是{fault}：{person}写的定时任务没有释放连接。",
            "- 结论：{back} 和 {back} 之间加重试，退避从 {n} 毫秒开始。",
        ),
        (
            "{back} {fault}是怎么解决的？",
            "{project}为什么变慢",
            "{back} {fault_en}",
            "上次{fault}的根因是什么",
        ),
    ),
    Topic(
        "家电",
        ("{device}坏了", "修{device}", "新{device}到货", "{device}设置"),
        (
            "{device}{symptom}，重启没有用，打电话约了{person}{moment}上门。",
            "{person}看了以后说是接头松了，换了零件，收费 {yuan} 元。",
            "{device}固件升到 {version}，{symptom}的毛病没有再出现。",
            "保修期到明年 {n} 月，发票拍照放在 NAS 的 `家电` 文件夹。",
            "新{device}花了 {yuan} 元，比旧的省电，声音也小。",
            "说明书第 {n} 页写着：{symptom}时长按复位键 {n} 秒。",
        ),
        (
            "上次{device}{symptom}是怎么修好的？",
            "{device}是什么时候买的",
            "谁来修过{device}",
            "{symptom}怎么办",
        ),
    ),
    Topic(
        "健康",
        ("{sport}打卡", "{ache}不舒服", "体检", "看{person}"),
        (
            "{moment}{sport} {n} 分钟，心率 1{n}，结束后拉伸了一会儿。",
            "{ache}疼了 {n} 天，{person}说少坐多动，先热敷再贴膏药。",
            "体检报告出来了，尿酸偏高，要少喝啤酒，多喝水，三个月后复查。",
            "{sport}的时候扭到{ache}，休息一周，改成{sport}。",
            "体重比上个月轻了 {n} 百克，睡眠平均七小时，感觉{feeling}。",
            "药每天 {n} 次，饭后吃，{person}提醒不要和咖啡一起。",
        ),
        ("我的{ache}是什么时候开始疼的？", "最近{sport}了几次", "体检有什么问题", "{ache}疼应该怎么办"),
    ),
    Topic(
        "读书",
        ("读{book}", "读书笔记", "{book}第 {n} 章", "书单"),
        (
            "{moment}读完{book}的第 {n} 章，感觉{feeling}。",
            "{book}里有一段讲记忆和遗忘，抄在本子上，准备写进博客。",
            "{person}推荐了{book}，说比{book}好读，图书馆排队要等 {n} 天。",
            "> 人总是在失去以后才明白，平常的日子最难得。",
            "读书会讨论{book}，{person}和{person}的看法完全相反。",
            "今年已经读了 {n} 本，{book}排第一。",
        ),
        ("{book}讲了什么？", "{person}推荐过什么书", "读{book}的感想", "今年读了哪些书"),
    ),
    Topic(
        "旅行",
        ("{city}之行", "{festival}出游", "订票", "{city}的{sight}"),
        (
            "{festival}去{city}，住在{sight}旁边，一晚 {yuan} 元。",
            "{moment}到{sight}，人不多，{weather}，拍了 {n} 张照片。",
            "{city}的{dish}很有名，排队 {n} 分钟，值得。",
            "来回坐{vehicle}，票价 {yuan} 元，提前 {n} 天才买得到。",
            "{person}走不动了，就在{sight}门口喝茶，等到{moment}。",
            "下次想去{city}，听说{sight}最好看，要避开{festival}。",
        ),
        ("去{city}玩了什么地方？", "{city}的{sight}好玩吗", "{festival}去了哪里旅行", "{city}有什么好吃的"),
    ),
    Topic(
        "理财",
        ("本月账单", "{bill}", "{bank}", "预算"),
        (
            "{bill} {yuan} 元，从{bank}自动扣，每月 {n} 号。",
            "这个月花了 {n}00 元在吃饭上，比预算多 {yuan} 元。",
            "{bank}的利率降到百分之 {n} 以下，转了一部分到{bank}。",
            "{bill}忘了交，多了 {yuan} 元滞纳金，设了提醒。",
            "和{person}商量，年底前存 {n} 万，先不换车。",
            "| {bill} | {yuan} 元 | {bank} |",
        ),
        ("{bill}是多少钱？", "{bill}从哪个账户扣", "这个月超支了吗", "{bank}里的钱怎么安排"),
    ),
    Topic(
        "阳台",
        ("{plant}", "给{plant}换盆", "{pet}", "浇水"),
        (
            "{plant}长了 {n} 片新叶，搬到有太阳的地方，每 {n} 天浇一次水。",
            "{plant}的叶子发黄，可能是浇水太多，停一周看看。",
            "{pet}把{plant}的盆打翻了，{person}收拾了半小时，{feeling}。",
            "{pet}今天不爱吃东西，带去宠物医院，检查花了 {yuan} 元。",
            "{person}送了一盆{plant}，说{weather}的时候要搬进屋里。",
            "给{pet}买了 {n} 斤粮，够吃到下个月。",
        ),
        ("{plant}叶子发黄怎么办？", "{pet}生病是什么时候", "多久给{plant}浇一次水", "谁送的{plant}"),
    ),
    Topic(
        "家庭",
        ("{lesson}", "{festival}", "和{person}聊天", "看{film}"),
        (
            "{person}陪孩子上{lesson}，老师说进步很大，下个月考级。",
            "晚上一家人看了{film}，{person}笑到打嗝，{feeling}。",
            "{festival}给{person}准备了礼物，{yuan} 元，藏在书柜里。",
            "给{person}打电话，说{city}老家{weather}，让我们别担心。",
            "{lesson}的作业有 {n} 道题，错了 {n} 道，重新讲了一遍。",
            "{person}想学用手机挂号，约了{moment}回去教。",
        ),
        (
            "{lesson}学得怎么样了？",
            "{festival}送了{person}什么礼物",
            "看{film}是哪天",
            "给{person}打电话说了什么",
        ),
    ),
    Topic(
        "工作",
        ("{project}评审", "周会", "{project}排期", "面试"),
        (
            "{project}评审改到{moment}，{person}主持，要先写一页设计。",
            "结论：{project}先做检索，再做界面，{n} 周内上线第一版。",
            "{person}问为什么不用 {back}，解释了成本，最后同意用 {back}。",
            "面试了 {n} 个人，有一个做过{project}，对 {back} 很熟。",
            "- TODO：把 `{file}` 里的阈值改成可配置，{person}负责。",
            "{project}的验收标准：查询 {n} 毫秒以内，结果前 {n} 条要有答案。",
        ),
        ("{project}什么时候上线？", "谁负责{project}", "{project}评审的结论是什么", "周会上{person}说了什么"),
    ),
)


OPENINGS = (
    "{weather}，{moment}才出门，{person}提醒带伞。",
    "{moment}醒来，{weather}，先给{person}回了消息。",
    "今天{feeling}，一半时间在忙{project}，一半时间陪{person}。",
    "离{festival}还有 {n} 天，{person}已经在催安排。",
)


def fill(template: str, rng: random.Random) -> str:
    """A template with a random word in each slot; the words of one template differ from each other."""
    used: set[str] = set()

    def word(match: re.Match[str]) -> str:
        choices = [choice for choice in SLOTS[match[1]] if choice not in used]
        used.add(choice := rng.choice(choices))
        return choice

    return SLOT.sub(word, template)


def section(topic: Topic, rng: random.Random) -> str:
    """One heading with two to six of the topic's sentences below it."""
    templates = rng.sample(topic.sentences, rng.randint(2, len(topic.sentences)))
    lines = [f"## {fill(rng.choice(topic.headings), rng)}", ""]
    # A table row or a quotation needs a line of its own; other sentences make paragraphs.
    for line in (fill(template, rng) for template in templates):
        lines += [line, ""] if line[0] in "|>" or rng.random() < 0.3 else [line]
    return "\n".join(lines).rstrip() + f"\n\n#{topic.tag}\n"


def diary(days: int, seed: str = "diary") -> Iterator[tuple[str, str]]:
    """Path and Markdown of each day from FIRST_DAY on."""
    for number in range(days):
        day = FIRST_DAY + timedelta(days=number)
        rng = random.Random(f"{seed} {number}")
        wanted = SECTIONS_OF_A_DAY[number % len(SECTIONS_OF_A_DAY)]
        sections = [section(topic, rng) for topic in rng.sample(TOPICS, wanted)]
        opening = fill(rng.choice(OPENINGS), rng)
        heading = f"# {day.isoformat()} 星期{WEEKDAYS[day.weekday()]}\n\n{opening}\n"
        yield f"{seed}/{day.isoformat()}.md", "\n".join([heading, *sections])


def questions(count: int) -> list[str]:
    """`count` different questions, the topics in turn. The first ones are the same for any count."""
    rng = random.Random("questions")
    asked: dict[str, None] = {}
    for topic in itertools.cycle(TOPICS):
        if len(asked) >= count:
            return list(asked)
        # Questions without a slot are soon used up, so the template is drawn again each time.
        asked.setdefault(fill(rng.choice(topic.questions), rng))
    raise AssertionError("a cycle does not end")
