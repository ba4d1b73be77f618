import { describe, expect, test } from 'vitest'
import { readGraph } from './graph'
import { find, indexOf, piecesOf, termsOf } from './search'

const index = indexOf(
  readGraph({
    nodes: [
      { path: 'a.md', title: '订阅功能', entities: ['RSS'], preview: '全文输出', first_at: '2026-01-01T12:00:00Z' },
      { path: 'b.md', title: 'RSS 全文', preview: '', first_at: '2026-01-02T12:00:00Z' },
      { path: 'c.md', title: '晨跑', tags: ['健康'], preview: 'ＲＳＳ in full width', first_at: '2026-01-03T12:00:00Z' },
    ],
  }).nodes,
)
const paths = (query: string) => find(index, termsOf(query)).map(({ path }) => path)

describe('find', () => {
  test('titles first, then names, then text; width and case do not matter', () => {
    expect(paths('rss')).toEqual(['b.md', 'a.md', 'c.md'])
    expect(paths('ＲＳＳ')).toEqual(['b.md', 'a.md', 'c.md'])
  })

  test('every word must be there', () => {
    expect(paths('rss 全文')).toEqual(['b.md', 'a.md'])
    expect(paths('健康 rss')).toEqual(['c.md'])
    expect(paths('没有这个')).toEqual([])
  })

  test('a blank query has no terms', () => {
    expect(termsOf(' \t　')).toEqual([])
  })
})

describe('piecesOf', () => {
  test('cuts where terms begin and end, and loses nothing', () => {
    expect(piecesOf('RSS 与 rss', ['rss'])).toEqual([
      { text: 'RSS', hit: true },
      { text: ' 与 ', hit: false },
      { text: 'rss', hit: true },
    ])
    expect(piecesOf('aaaa', ['aa', 'a'])).toEqual([{ text: 'aaaa', hit: true }])
    expect(piecesOf('', ['a'])).toEqual([])
  })

  test('leaves alone a text whose length changes when folded', () => {
    expect(piecesOf('ﬁne a', ['a'])).toEqual([{ text: 'ﬁne a', hit: false }])
  })
})
