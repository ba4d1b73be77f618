/*
 * Every word the page says, in both languages. `Words` is the contract: a phrase missing in one language
 * does not compile. Phrases with values are functions, because word order differs.
 */
import type { GroupName } from './group'
import { utc, type Step } from './timeline'

export type Language = 'zh' | 'en'

export interface Words {
  /** Of the language itself, for `<html lang>` and for dates and numbers. */
  readonly locale: string
  readonly title: string
  readonly pageTitle: (namespace: string) => string
  readonly namespace: string
  readonly search: string
  readonly searchHint: string
  readonly clearSearch: string
  readonly colourBy: string
  readonly byTime: string
  readonly byFolder: string
  readonly switchLanguage: string
  readonly otherLanguage: string
  readonly toDark: string
  readonly toLight: string
  readonly canvas: (nodes: string, edges: string) => string
  readonly zoomIn: string
  readonly zoomOut: string
  readonly fit: string
  readonly arrange: string
  readonly legend: string
  readonly legendSize: string
  readonly legendWidth: string
  readonly legendNotes: string
  readonly strength: string
  readonly strengthValue: (value: string) => string
  readonly edgesShown: (shown: string, all: string) => string
  readonly noEdges: string
  readonly timeline: string
  readonly timelineFrom: string
  readonly timelineTo: string
  readonly timelineNone: string
  readonly timelineOne: string
  readonly timelineReset: string
  readonly range: (from: string, to: string) => string
  readonly undatedHidden: (count: string) => string
  readonly list: string
  readonly results: string
  readonly nodesShown: (shown: string, all: string) => string
  readonly found: (count: string) => string
  readonly nothingFound: string
  readonly more: (count: string) => string
  readonly keys: string
  readonly truncated: (shown: string, all: string) => string
  readonly details: string
  readonly back: string
  readonly date: string
  readonly noDate: string
  readonly sections: string
  readonly characters: string
  readonly tags: string
  readonly entities: string
  readonly searchFor: (name: string) => string
  readonly neighbours: string
  readonly noNeighbours: string
  readonly weaker: (count: string) => string
  readonly similarity: string
  readonly shared: string
  readonly nothingShared: string
  readonly notOnPage: string
  readonly links: (count: string) => string
  readonly loading: string
  readonly failed: string
  readonly failedHint: string
  readonly serverAnswered: (status: string) => string
  readonly notAGraph: string
  readonly retry: string
  readonly empty: string
  readonly emptyHint: string
  readonly single: string
  readonly model: string
  readonly similarityRange: (min: string, mean: string, max: string) => string
  readonly group: (name: GroupName) => string
  readonly bucket: (start: number, step: Step) => string
  readonly day: (time: number) => string
  readonly count: (value: number) => string
}

const english: Words = {
  ...formats('en'),
  locale: 'en',
  title: 'Memory graph',
  pageTitle: (namespace) => (namespace ? `${namespace} · Memory graph` : 'Memory graph'),
  namespace: 'Namespace',
  search: 'Search documents',
  searchHint: 'Title, path, tag or entity',
  clearSearch: 'Clear search',
  colourBy: 'Colour by',
  byTime: 'Time',
  byFolder: 'Folder',
  switchLanguage: 'Switch to Chinese',
  otherLanguage: '中文',
  toDark: 'Dark theme',
  toLight: 'Light theme',
  canvas: (nodes, edges) =>
    `Graph of ${nodes} documents and ${edges} links. Arrow keys move it, plus and minus zoom, 0 fits it. The list beside it holds the same documents.`,
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Fit to window',
  arrange: 'Arrange by the links shown',
  legend: 'Legend',
  legendSize: 'Size: characters',
  legendWidth: 'Line: link strength',
  legendNotes: 'What size and line mean',
  strength: 'Link strength',
  strengthValue: (value) => `at least ${value}`,
  edgesShown: (shown, all) => `${shown} of ${all} links`,
  noEdges: 'No links',
  timeline: 'Timeline',
  timelineFrom: 'From',
  timelineTo: 'Until',
  timelineNone: 'No dates to choose from',
  timelineOne: 'All dates are the same day',
  timelineReset: 'Whole time',
  range: (from, to) => (from === to ? from : `${from} – ${to}`),
  undatedHidden: (count) => `${count} without a date hidden`,
  list: 'Documents',
  results: 'Results',
  nodesShown: (shown, all) => (shown === all ? `${all}` : `${shown} of ${all}`),
  found: (count) => `${count} found`,
  nothingFound: 'No document matches. Try fewer words, or widen the timeline.',
  more: (count) => `Show ${count} more`,
  keys: '/ search · ↑ ↓ choose · Enter open · Esc back',
  truncated: (shown, all) => `The graph holds ${shown} of ${all} files.`,
  details: 'Details',
  back: 'All documents',
  date: 'Date',
  noDate: 'No date',
  sections: 'Sections',
  characters: 'Characters',
  tags: 'Tags',
  entities: 'Entities',
  searchFor: (name) => `Search for ${name}`,
  neighbours: 'Linked documents',
  noNeighbours: 'Nothing is linked this strongly.',
  weaker: (count) => `${count} weaker, hidden by the slider`,
  similarity: 'Similarity',
  shared: 'Shared',
  nothingShared: 'Alike in meaning, no shared entity',
  notOnPage: 'Not part of this graph',
  links: (count) => `${count} ${count === '1' ? 'link' : 'links'}`,
  loading: 'Loading the graph…',
  failed: 'The graph could not be loaded.',
  failedHint: 'There is no readable data in this page, and the server it came from gave none.',
  serverAnswered: (status) => `The server answered with status ${status}.`,
  notAGraph: 'The answer was not a graph.',
  retry: 'Try again',
  empty: 'Nothing remembered yet',
  emptyHint: 'The graph grows as memories with a path are stored in this namespace.',
  single: 'One document so far. Links appear as soon as there is a second one to relate it to.',
  model: 'Model',
  similarityRange: (min, mean, max) => `Similarity ${min}–${max}, mean ${mean}`,
}

const chinese: Words = {
  ...formats('zh'),
  locale: 'zh-CN',
  title: '记忆图谱',
  pageTitle: (namespace) => (namespace ? `${namespace} · 记忆图谱` : '记忆图谱'),
  namespace: '命名空间',
  search: '搜索文档',
  searchHint: '标题、路径、标签或实体',
  clearSearch: '清除搜索',
  colourBy: '着色依据',
  byTime: '时间',
  byFolder: '文件夹',
  switchLanguage: '切换为英文',
  otherLanguage: 'English',
  toDark: '深色主题',
  toLight: '浅色主题',
  canvas: (nodes, edges) =>
    `图谱共有 ${nodes} 篇文档、${edges} 条关联。方向键平移，加减号缩放，0 适应窗口。旁边的列表包含同样的文档。`,
  zoomIn: '放大',
  zoomOut: '缩小',
  fit: '适应窗口',
  arrange: '按当前关联重新排布',
  legend: '图例',
  legendSize: '大小：字数',
  legendWidth: '线条：关联强度',
  legendNotes: '大小和线条的含义',
  strength: '关联强度',
  strengthValue: (value) => `不低于 ${value}`,
  edgesShown: (shown, all) => `${shown} / ${all} 条关联`,
  noEdges: '没有关联',
  timeline: '时间轴',
  timelineFrom: '起始',
  timelineTo: '截止',
  timelineNone: '没有可选的日期',
  timelineOne: '所有日期都是同一天',
  timelineReset: '全部时间',
  range: (from, to) => (from === to ? from : `${from} – ${to}`),
  undatedHidden: (count) => `已隐藏 ${count} 篇无日期的文档`,
  list: '文档',
  results: '搜索结果',
  nodesShown: (shown, all) => (shown === all ? `${all} 篇` : `${shown} / ${all} 篇`),
  found: (count) => `找到 ${count} 篇`,
  nothingFound: '没有匹配的文档。请减少关键词，或放宽时间范围。',
  more: (count) => `再显示 ${count} 篇`,
  keys: '/ 搜索 · ↑ ↓ 选择 · Enter 打开 · Esc 返回',
  truncated: (shown, all) => `图谱包含 ${all} 个文件中的 ${shown} 个。`,
  details: '详情',
  back: '全部文档',
  date: '日期',
  noDate: '无日期',
  sections: '段落',
  characters: '字数',
  tags: '标签',
  entities: '实体',
  searchFor: (name) => `搜索“${name}”`,
  neighbours: '关联的文档',
  noNeighbours: '没有这么强的关联。',
  weaker: (count) => `另有 ${count} 条较弱的关联被滑块隐藏`,
  similarity: '相似度',
  shared: '共有',
  nothingShared: '语义相近，没有共同实体',
  notOnPage: '不在此图谱中',
  links: (count) => `${count} 条关联`,
  loading: '正在载入图谱…',
  failed: '无法载入图谱。',
  failedHint: '本页面没有可读取的数据，提供页面的服务器也没有返回数据。',
  serverAnswered: (status) => `服务器返回状态 ${status}。`,
  notAGraph: '返回的内容不是图谱。',
  retry: '重试',
  empty: '还没有记忆',
  emptyHint: '在此命名空间存入带路径的记忆后，图谱就会出现。',
  single: '目前只有一篇文档。有了第二篇，就会出现关联。',
  model: '模型',
  similarityRange: (min, mean, max) => `相似度 ${min}–${max}，平均 ${mean}`,
}

export const words: Readonly<Record<Language, Words>> = { zh: chinese, en: english }

/** The language asked for, or the reader's where none was. */
export function languageOf(asked: string | undefined, reader: string): Language {
  if (asked === 'zh' || asked === 'en') return asked
  return /^zh\b/i.test(reader) ? 'zh' : 'en'
}

/** Dates and numbers as the language writes them, and names of groups, which are dates too. */
function formats(language: Language): Pick<Words, 'group' | 'bucket' | 'day' | 'count'> {
  const locale = language === 'zh' ? 'zh-CN' : 'en-GB'
  const date = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
    return (time: number) => format.format(time)
  }
  const day = date({ year: 'numeric', month: language === 'zh' ? 'long' : 'short', day: 'numeric' })
  const month = date({ year: 'numeric', month: language === 'zh' ? 'long' : 'short' })
  const year = date({ year: 'numeric' })
  const number = new Intl.NumberFormat(locale)
  const fixed =
    language === 'zh'
      ? { top: '根目录', other: '其他', undated: '无日期' }
      : { top: 'Top folder', other: 'Other', undated: 'No date' }

  function quarter(start: number): string {
    const moment = new Date(start)
    const place = Math.floor(moment.getUTCMonth() / 3) + 1
    return language === 'zh' ? `${moment.getUTCFullYear()}年第${place}季度` : `Q${place} ${moment.getUTCFullYear()}`
  }

  return {
    day,
    count: (value) => number.format(value),
    bucket: (start, step) => {
      switch (step) {
        case 'month':
          return month(start)
        case 'year':
          return year(start)
        case 'decade':
        case 'century':
          return `${year(start)}–${year(utc(new Date(start).getUTCFullYear() + (step === 'decade' ? 9 : 99), 0, 1))}`
        default:
          return day(start)
      }
    },
    group: (name) => {
      switch (name.kind) {
        case 'month':
          return month(name.start)
        case 'quarter':
          return quarter(name.start)
        case 'year':
          return year(name.start)
        case 'folder':
          return name.name
        case 'top':
          return name.name || fixed.top
        default:
          return fixed[name.kind]
      }
    },
  }
}
