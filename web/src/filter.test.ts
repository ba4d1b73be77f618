import { describe, expect, test } from 'vitest'
import {
  byDate,
  degrees,
  edgesShown,
  initialWeight,
  neighbourhood,
  relativeWeight,
  weightBounds,
  weightHistogram,
} from './filter'
import { readGraph } from './graph'

const graph = readGraph({
  default_weight: 0.4,
  nodes: ['a', 'b', 'c', 'd'].map((path) => ({ path })),
  edges: [
    { source: 'a', target: 'b', weight: 0.313 },
    { source: 'b', target: 'c', weight: 0.4 },
    { source: 'c', target: 'd', weight: 0.877 },
  ],
})
const all = new Set(['a', 'b', 'c', 'd'])

describe('the slider', () => {
  test('reaches from the weakest edge to the strongest in whole steps', () => {
    expect(weightBounds(graph)).toEqual({ low: 0.31, high: 0.88 })
  })

  test('reaches the default even where every edge is weaker', () => {
    expect(weightBounds({ ...graph, defaultWeight: 0.95 }).high).toBe(0.95)
  })

  test('starts at the default, or shows all', () => {
    const bounds = weightBounds(graph)
    expect(initialWeight(graph, bounds)).toBe(0.4)
    const start = initialWeight({ ...graph, defaultWeight: null }, bounds)
    expect(edgesShown(graph.edges, start, all)).toHaveLength(3)
  })

  test('is whole without edges', () => {
    expect(weightBounds({ ...graph, edges: [] })).toEqual({ low: 0, high: 1 })
  })
})

test('edgesShown keeps an edge as strong as the slider, and only between nodes shown', () => {
  expect(edgesShown(graph.edges, 0.4, all).map(({ weight }) => weight)).toEqual([0.4, 0.877])
  expect(edgesShown(graph.edges, 0, new Set(['a', 'b', 'd'])).map(({ weight }) => weight)).toEqual([0.313])
})

test('neighbourhood and degrees', () => {
  expect([...neighbourhood(graph.edges, 'b')].sort()).toEqual(['a', 'b', 'c'])
  expect([...neighbourhood(graph.edges, 'x')]).toEqual(['x'])
  expect(degrees(graph.edges).get('c')).toBe(2)
  expect(degrees(graph.edges).get('x')).toBeUndefined()
})

test('the histogram counts every edge once', () => {
  const bounds = weightBounds(graph)
  const counts = weightHistogram(graph.edges, bounds, 10)
  expect(counts).toHaveLength(10)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3)
  expect(counts.at(-1)).toBe(1)
  expect(relativeWeight(0.5, { low: 0.5, high: 0.5 })).toBe(1)
})

test('byDate: newest first, undated last, and never undecided', () => {
  const nodes = readGraph({
    nodes: [
      { path: 'z' },
      { path: 'old', first_at: '2026-01-01T12:00:00Z' },
      { path: 'y' },
      { path: 'new', first_at: '2026-02-01T12:00:00Z' },
      { path: 'before', first_at: '1950-02-01T12:00:00Z' },
    ],
  }).nodes
  expect([...nodes].sort(byDate).map(({ path }) => path)).toEqual(['new', 'old', 'before', 'y', 'z'])
})
