/*
 * Graph documents for the browser test and for `npm run dev` in web/: made-up diaries of two months, one
 * memory, none, two thousand, and one that tries to be HTML. Each is what `memory_graph()` gives, made
 * without chance: the same document every time.
 */

const months = [
  // path, title, tags, entities, text
  ['memory/2026-01-04.md', '搬家第一周', ['生活'], ['宜家', '阳台'], '新家的书架终于装好了。阳台朝南，准备种两盆薄荷和一盆罗勒。'],
  ['memory/2026-01-07.md', '博客换框架', ['博客', '技术'], ['Astro', 'RSS', '静态站点'], '把博客从旧框架迁到 Astro，构建从四十秒降到六秒，RSS 输出还要再核对。'],
  ['memory/health/2026-01-09.md', '晨跑恢复', ['健康'], ['滨江步道', '心率'], '沿滨江步道跑了五公里，平均心率 148，比上个月低了六次。'],
  ['memory/reading/2026-01-12.md', '读《置身事内》', ['读书'], ['置身事内', '土地财政'], '读到第三章，土地财政的来龙去脉讲得很清楚，做了两页笔记。'],
  ['memory/work/2026-01-15.md', 'RSS 全文输出', ['博客', '技术'], ['RSS', 'Astro', 'sitemap'], '订阅源改为全文输出，顺手把 sitemap 里的重复链接去掉了。'],
  ['memory/2026-01-15.md', '阳台菜园', ['生活'], ['阳台', '薄荷', '罗勒'], '薄荷活了，罗勒蔫了一株。查资料说冬天浇水要等盆土干透。'],
  ['memory/work/2026-01-21.md', '数据库升级', ['技术'], ['PostgreSQL', 'pgvector', '备份'], '测试环境升级 PostgreSQL，先做了一次完整备份，pgvector 索引重建用了三分钟。'],
  ['memory/2026-01-27.md', '年货清单', ['生活'], ['年货', '腊肠'], '和妈妈通电话列了年货清单：腊肠、香菇、两箱砂糖橘。'],
  ['memory/work/2026-01-27.md', '记忆检索实验', ['技术'], ['PostgreSQL', 'pgvector', '中文分词'], '对比了几种中文分词，短问题用词匹配更准，长问题向量更稳。'],
  ['memory/health/2026-01-30.md', '体检结果', ['健康'], ['心率', '血脂'], '体检报告出来了，血脂略高，医生建议继续晨跑，少吃腊肠。'],
  ['memory/reading/2026-02-02.md', '读完《置身事内》', ['读书'], ['置身事内', '土地财政', '读书会'], '全书读完，准备在读书会上讲产业政策那一章。'],
  ['memory/2026-02-05.md', 'SEO 优化开头', ['博客'], ['SEO', 'sitemap', 'Astro'], '给每篇文章补了描述和规范链接，提交新的 sitemap。'],
  ['memory/2026-02-08.md', '回家的火车', ['生活'], ['年货', '火车票'], '六小时火车，带了年货和一本小说，窗外下雪。'],
  ['memory/work/2026-02-14.md', '备份演练', ['技术'], ['PostgreSQL', '备份', '恢复'], '演练一次从备份恢复，全程十一分钟，文档里漏了一步，已补上。'],
  ['memory/2026-02-14.md', '家里的菜', ['生活'], ['腊肠', '香菇'], '跟爸爸学做腊肠煲仔饭，火候最难，第二锅才有锅巴。'],
  ['memory/health/2026-02-19.md', '春节晨跑', ['健康'], ['心率', '滨江步道'], '老家没有滨江步道，绕着操场跑了三公里，心率还算平稳。'],
  ['memory/2026-02-19.md', '订阅功能优化', ['博客', '技术'], ['RSS', 'SEO', 'sitemap'], '订阅页加了说明，RSS 增加封面图，SEO 检查一共改了三十七个页面。'],
  ['memory/2026-02-22.md', '薄荷分盆', ['生活'], ['阳台', '薄荷'], '回来发现薄荷长满了，分成三盆，送邻居一盆。'],
  ['memory/reading/2026-02-19.md', '读书会', ['读书'], ['读书会', '置身事内'], '讲了四十分钟，讨论很热烈，下一本定为《长安的荔枝》。'],
  ['memory/work/2026-02-27.md', '分词词典整理', ['技术'], ['中文分词', '词典'], '整理了自定义词典，删掉重复的一百多条，检索结果更稳定了。'],
  ['memory/work/graph.md', '图谱页面', ['技术'], ['PostgreSQL', '力导向图', 'Vue'], '把相关的记忆画成图：点是文件，线是共有的实体和相近的意思。'],
  ['memory/work/blog.md', '博客规划', ['博客'], ['Astro', 'RSS', 'SEO'], '今年的目标：每月两篇长文，订阅源保持全文，首页一秒内打开。'],
  ['memory/people/family.md', '家人', ['生活'], ['年货', '腊肠', '生日'], '妈妈的生日在农历三月，爸爸爱喝岩茶，妹妹夏天毕业。'],
  ['memory/people/readers.md', '读书会的朋友', ['读书'], ['读书会', '长安的荔枝'], '老周喜欢历史，小林读得最快，每月最后一个周三见面。'],
]

const files = months.map(([path, title, tags, entities, preview], index) => {
  const day = /\d{4}-\d\d-\d\d/.exec(path)?.[0]
  const date = day ? `${day}T12:00:00+00:00` : null
  return {
    id: path,
    path,
    title,
    chunks: 1 + (index % 4),
    characters: 160 + ((index * 397) % 1400),
    first_at: date,
    last_at: date,
    tags,
    entities,
    preview,
  }
})

function join(nodes) {
  const holders = new Map()
  for (const node of nodes) {
    for (const entity of node.entities) holders.set(entity, (holders.get(entity) ?? 0) + 1)
  }
  const edges = []
  nodes.forEach((a, i) => {
    nodes.slice(i + 1).forEach((b, j) => {
      const shared = a.entities.filter((entity) => b.entities.includes(entity))
      const tags = a.tags.filter((tag) => b.tags.includes(tag)).length
      // Rare entities join more strongly; a common tag alone stands for likeness of meaning.
      const rare = shared.reduce((sum, entity) => sum + 1 / holders.get(entity), 0)
      const weight = Math.min(0.95, 0.12 * tags + 0.5 * rare + ((i * 7 + j * 3) % 10) / 100)
      if (weight < 0.1) return
      const similarity = tags === 0 ? null : Math.round((0.8 + weight * 0.16) * 1000) / 1000
      edges.push({ source: a.path, target: b.path, weight: Math.round(weight * 1000) / 1000, similarity, shared })
    })
  })
  return edges
}

function graph(nodes, edges, more = {}) {
  return {
    namespace: 'default',
    model: 'multilingual-e5-small',
    threshold: 0.87,
    default_weight: 0.25,
    similarity: { min: 0.78, mean: 0.82, deviation: 0.03, max: 0.95 },
    total_paths: nodes.length,
    truncated: false,
    nodes,
    edges,
    ...more,
  }
}

/** A small generator of equal numbers for equal seeds. */
function sequence(seed) {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

function large(count, links) {
  const random = sequence(7)
  const topics = 40
  const nodes = Array.from({ length: count }, (_, index) => {
    const date = new Date(Date.UTC(2024, 0, 1) + Math.floor((index / count) * 760) * 86_400_000)
    return {
      id: `memory/topic-${index % topics}/${index}.md`,
      path: `memory/topic-${index % topics}/${index}.md`,
      title: `记录 ${index}`,
      chunks: 1 + (index % 5),
      characters: 80 + Math.floor(random() ** 3 * 6_000),
      first_at: `${date.toISOString().slice(0, 10)}T12:00:00+00:00`,
      last_at: `${date.toISOString().slice(0, 10)}T12:00:00+00:00`,
      tags: [`主题${index % topics}`],
      entities: [`实体${index % 300}`],
      preview: `第 ${index} 条自动生成的记录。`,
    }
  })
  const edges = Array.from({ length: links }, (_, index) => {
    const from = index % count
    // Mostly within a topic; the last nodes of one wrap around to its first.
    const step = random() < 0.97 ? topics * (1 + Math.floor(random() * 8)) : 1 + Math.floor(random() * 400)
    const to = (from + step) % count
    return {
      source: nodes[from].path,
      target: nodes[to].path,
      weight: Math.round((0.1 + random() * 0.8) * 1000) / 1000,
      similarity: 0.8,
      shared: [],
    }
  })
  return graph(nodes, edges, { truncated: true, total_paths: count + 512, default_weight: 0.3 })
}

const attack = '</script><script>window.attacked = true</script><img src=x onerror="window.attacked = true">'

export const graphs = {
  diary: () => graph(files, join(files)),
  empty: () => graph([], [], { model: null, similarity: null }),
  single: () => graph(files.slice(0, 1), [], { similarity: null }),
  large: () => large(2_000, 6_000),
  hostile: () =>
    graph(
      ['a', 'b'].map((name) => ({ ...files[0], id: name, path: name, title: attack, tags: [attack], entities: [attack], preview: attack })),
      [{ source: 'a', target: 'b', weight: 0.5, similarity: null, shared: [attack, '__GRAPH_LANG__ $& __GRAPH_DATA__'] }],
    ),
}
