import { describe, expect, test } from 'vitest'
import { neighboursOf, NotAGraph, readGraph, readRelated } from './graph'

describe('readGraph', () => {
  test('reads a document as the database gives it', () => {
    const graph = readGraph({
      namespace: 'default',
      model: 'multilingual-e5-small',
      similarity: { min: 0.78, mean: 0.82, deviation: 0.03, max: 0.95 },
      default_weight: 0.4,
      total_paths: 20,
      truncated: true,
      nodes: [
        { id: 'a.md', path: 'a.md', title: '甲', chunks: 4, characters: 812, first_at: '2026-02-19T12:00:00+00:00' },
        { id: 'b.md', path: 'b.md', title: '', first_at: null, tags: ['博客'], entities: ['RSS'], preview: 'b' },
      ],
      edges: [{ source: 'a.md', target: 'b.md', weight: 0.42, similarity: null, shared: ['RSS'] }],
    })
    expect(graph.totalPaths).toBe(20)
    expect(graph.truncated).toBe(true)
    expect(graph.defaultWeight).toBe(0.4)
    expect(graph.nodes[0]).toMatchObject({ title: '甲', firstAt: Date.UTC(2026, 1, 19, 12), lastAt: Date.UTC(2026, 1, 19, 12), tags: [] })
    expect(graph.nodes[1]).toMatchObject({ title: 'b.md', firstAt: null, lastAt: null, entities: ['RSS'] })
    expect(graph.edges).toEqual([{ source: 'a.md', target: 'b.md', weight: 0.42, similarity: null, shared: ['RSS'] }])
  })

  test('keeps nothing that does not fit together', () => {
    const graph = readGraph({
      nodes: [{ path: 'a' }, { path: 'b' }, { path: 'a', title: 'again' }, null, 7, {}],
      edges: [
        { source: 'a', target: 'a', weight: 1 },
        { source: 'a', target: 'lost', weight: 1 },
        { source: 'a', target: 'b', weight: 0.2 },
        { source: 'b', target: 'a', weight: 3 },
        'no edge',
      ],
    })
    expect(graph.nodes.map((node) => node.title)).toEqual(['a', 'b'])
    expect(graph.edges).toEqual([{ source: 'b', target: 'a', weight: 1, similarity: null, shared: [] }])
    expect(graph.defaultWeight).toBeNull()
    expect(graph.similarity).toBeNull()
    expect(graph.totalPaths).toBe(2)
  })

  test('nothing turns the direction of what stands around it', () => {
    const graph = readGraph({ nodes: [{ path: 'a\u202Efdp', title: 'b\u202E\u2066c', tags: ['\u200E', 'x\u200F'], preview: '\u202Ad' }] })
    expect(graph.nodes[0]).toMatchObject({ path: 'a\u202Efdp', title: 'bc', tags: ['x'], preview: 'd' })
  })

  test.each([null, [], 'text', {}, { nodes: 3 }])('refuses %j', (json) => {
    expect(() => readGraph(json)).toThrow(NotAGraph)
  })
})

test('neighboursOf gives both directions, the strongest first, equal ones by path', () => {
  const edge = (source: string, target: string, weight: number) => ({ source, target, weight, similarity: null, shared: [] })
  const edges = [edge('a', 'd', 0.3), edge('c', 'a', 0.3), edge('a', 'b', 0.9), edge('b', 'c', 1)]
  expect(neighboursOf(edges, 'a').map(({ path }) => path)).toEqual(['b', 'c', 'd'])
  expect(neighboursOf(edges, 'x')).toEqual([])
})

test('readRelated skips rows without a path', () => {
  expect(readRelated({ related: [{ path: 'a', weight: 0.5, shared: ['x'] }, { weight: 1 }, null] })).toEqual([
    { path: 'a', weight: 0.5, similarity: null, shared: ['x'] },
  ])
  expect(readRelated([])).toEqual([])
})
