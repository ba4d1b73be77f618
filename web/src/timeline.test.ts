import { describe, expect, test } from 'vitest'
import { readGraph, type GraphNode } from './graph'
import { inRange, timelineOf, wholeRange } from './timeline'

function nodes(...dates: ([first: string, last: string] | string | null)[]): readonly GraphNode[] {
  return readGraph({
    nodes: dates.map((date, index) => ({
      path: `${index}`,
      first_at: Array.isArray(date) ? date[0] : date,
      last_at: Array.isArray(date) ? date[1] : date,
    })),
  }).nodes
}

const day = (text: string) => `${text}T12:00:00+00:00`

describe('timelineOf', () => {
  test('has no choice to offer for no date, one date, one day', () => {
    expect(timelineOf([])).toBeNull()
    expect(timelineOf(nodes(null, day('2026-01-01')))).toBeNull()
    expect(timelineOf(nodes('2026-01-01T08:00:00Z', '2026-01-01T20:00:00Z'))).toBeNull()
  })

  test.each([
    ['2026-03-20', 'day'],
    ['2026-03-24', 'week'],
    ['2027-12-31', 'month'],
    ['2040-01-01', 'year'],
    ['2200-01-01', 'decade'],
    ['9999-12-31', 'century'],
  ])('until %s takes a bucket a %s', (last, step) => {
    const timeline = timelineOf(nodes(day('2026-01-01'), day(last)))
    expect(timeline?.step).toBe(step)
    expect(timeline?.buckets.length).toBeLessThanOrEqual(82)
  })

  test('buckets meet without gaps, and hold every date once', () => {
    const timeline = timelineOf(nodes(day('2024-02-29'), day('2024-12-31'), day('2025-01-01'), day('2026-06-15'), null))
    expect(timeline?.undated).toBe(1)
    const buckets = timeline?.buckets ?? []
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(4)
    buckets.slice(1).forEach((bucket, index) => expect(bucket.start).toBe(buckets[index]?.end))
  })

  test('a date far from all others does not stretch the axis, and is at the end it lies beyond', () => {
    const days = Array.from({ length: 9 }, (_, index) => day(`2026-01-0${index + 1}`))
    const list = nodes(day('0001-01-01'), ...days, day('9999-12-31'))
    const timeline = timelineOf(list)
    expect(timeline?.step).toBe('day')
    expect(timeline?.buckets.map(({ count }) => count)).toEqual([2, 1, 1, 1, 1, 1, 1, 1, 2])
    const chosen = (from: number, to: number) => list.filter((node) => timeline && inRange(node, timeline, { from, to }))
    expect(chosen(0, 0).map(({ path }) => path)).toEqual(['0', '1'])
    expect(chosen(3, 4).map(({ path }) => path)).toEqual(['4', '5'])
    expect(chosen(8, 8).map(({ path }) => path)).toEqual(['9', '10'])
  })

  test('years are those written, the first hundred too', () => {
    const timeline = timelineOf(nodes('0001-01-01T12:00:00Z', '0040-06-01T12:00:00Z'))
    expect(timeline?.step).toBe('year')
    expect(new Date(timeline?.buckets[0]?.start ?? 0).getUTCFullYear()).toBe(1)
    expect(timeline?.buckets.length).toBe(40)
  })

  test('weeks begin on Monday', () => {
    const timeline = timelineOf(nodes(day('2026-01-01'), day('2026-04-30')))
    expect(new Date(timeline?.buckets[0]?.start ?? 0).toISOString()).toBe('2025-12-29T00:00:00.000Z')
  })
})

describe('inRange', () => {
  const list = nodes(day('2026-01-01'), [day('2026-01-02'), day('2026-01-05')], day('2026-01-10'), null)
  const timeline = timelineOf(list)
  const chosen = (from: number, to: number) =>
    list.filter((node) => timeline && inRange(node, timeline, { from, to })).map(({ path }) => path)

  test('the whole time holds everything, undated too', () => {
    const { from, to } = timeline ? wholeRange(timeline) : { from: -1, to: -1 }
    expect(chosen(from, to)).toEqual(['0', '1', '2', '3'])
  })

  test('a part holds what lies in it or reaches into it', () => {
    expect(chosen(0, 0)).toEqual(['0'])
    expect(chosen(3, 3)).toEqual(['1'])
    expect(chosen(5, 9)).toEqual(['2'])
    expect(chosen(6, 7)).toEqual([])
  })
})
