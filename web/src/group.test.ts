import { describe, expect, test } from 'vitest'
import { readGraph } from './graph'
import { groupsOf, MOST_FOLDERS, naturalGrouping } from './group'
import { coloursOf, palettes } from './palette'

const read = (nodes: object[]) => readGraph({ nodes }).nodes
const dated = (...dates: (string | null)[]) =>
  read(dates.map((date, index) => ({ path: `${index}`, first_at: date && `${date}T12:00:00Z` })))
const placed = (...paths: string[]) => read(paths.map((path) => ({ path })))

describe('by time', () => {
  test('months in order, undated last', () => {
    const groups = groupsOf(dated('2026-02-01', null, '2026-01-31', '2026-02-28'), 'time')
    expect(groups.map(({ name }) => name.kind)).toEqual(['month', 'month', 'undated'])
    expect(groups.map(({ nodes }) => nodes.size)).toEqual([1, 2, 1])
  })

  test('longer spans take quarters, then years', () => {
    const every = (months: number, step: number) =>
      dated(...Array.from({ length: months }, (_, index) => new Date(Date.UTC(2020, index * step, 1)).toISOString().slice(0, 10)))
    expect(groupsOf(every(12, 1), 'time')[0]?.name.kind).toBe('month')
    expect(groupsOf(every(13, 1), 'time')[0]?.name.kind).toBe('quarter')
    expect(groupsOf(every(30, 3), 'time')[0]?.name.kind).toBe('year')
  })

  test('is natural only where it tells something apart', () => {
    expect(naturalGrouping(dated('2026-01-01', '2026-02-01'))).toBe('time')
    expect(naturalGrouping(dated('2026-01-01', '2026-01-02', null))).toBe('folder')
    expect(naturalGrouping([])).toBe('folder')
  })
})

describe('by folder', () => {
  test('takes the first folder that tells paths apart', () => {
    const groups = groupsOf(placed('m/a/1.md', 'm/a/2.md', 'm/b/3.md', 'm/4.md'), 'folder')
    expect(groups.map(({ name, nodes }) => [name, nodes.size])).toEqual([
      [{ kind: 'top', name: 'm' }, 1],
      [{ kind: 'folder', name: 'a' }, 2],
      [{ kind: 'folder', name: 'b' }, 1],
    ])
  })

  test('never takes more groups than there are colours, and loses no node', () => {
    const paths = Array.from({ length: 30 }, (_, index) => `f${index % 15}/${index}.md`)
    const groups = groupsOf(placed(...paths, 'top.md'), 'folder')
    expect(groups.length).toBeLessThanOrEqual(MOST_FOLDERS)
    expect(groups.at(-1)?.name.kind).toBe('other')
    expect(groups.reduce((sum, { nodes }) => sum + nodes.size, 0)).toBe(31)
  })

  test('handles none', () => {
    expect(groupsOf([], 'folder')).toEqual([])
    expect(groupsOf([], 'time')).toEqual([])
  })
})

test('every group has a colour of its own', () => {
  const groups = groupsOf(dated('2026-01-01', '2026-02-01', '2026-03-01', null), 'time')
  const colours = coloursOf(groups, 'time', palettes.light)
  expect(new Set(colours.values()).size).toBe(4)
  for (const colour of colours.values()) expect(colour).toMatch(/^#[0-9a-f]{6}$/)
})
