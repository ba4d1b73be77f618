/*
 * Time as the timeline shows it: equal calendar steps from the first date to the last.
 *
 * All dates are taken in UTC: a memory's date is a day, written as noon UTC, and must not move with the
 * reader's time zone. A date far from all others (0001-01-01, 9999-12-31) takes part at the end it lies
 * beyond, for with it on the axis the others would be one bar.
 */
import type { GraphNode } from './graph'

export type Step = 'day' | 'week' | 'month' | 'year' | 'decade' | 'century'

export interface Bucket {
  /** First moment, and the first moment of the next bucket. */
  readonly start: number
  readonly end: number
  /** Nodes whose first date lies in it. */
  readonly count: number
}

export interface Timeline {
  readonly step: Step
  readonly buckets: readonly Bucket[]
  readonly undated: number
}

/** Buckets chosen, first and last, both included. */
export interface Range {
  readonly from: number
  readonly to: number
}

const DAY = 86_400_000
/** So many buckets at most before the next longer step is taken: a bar stays wide enough to see. */
const MOST_BUCKETS = 80
/** A date is far where it lies so many times the spread of the middle half away from it; that is a year at least. */
const FAR = 20

/** Null where fewer than two dates differ: there is nothing to choose. */
export function timelineOf(nodes: readonly GraphNode[]): Timeline | null {
  const times = nodes.flatMap((node) => (node.firstAt === null ? [] : [node.firstAt, node.lastAt ?? node.firstAt]))
  const [earliest, latest] = fences(times)
  let first = Infinity
  let last = -Infinity
  for (const time of times) {
    if (time < earliest || time > latest) continue
    first = Math.min(first, time)
    last = Math.max(last, time)
  }
  const undated = nodes.filter((node) => node.firstAt === null).length
  if (!(last - first >= DAY)) return null

  const step = stepFor(last - first)
  const starts: number[] = []
  for (let start = floor(first, step); start <= last; start = next(start, step)) starts.push(start)
  const counts = new Array<number>(starts.length).fill(0)
  for (const node of nodes) {
    if (node.firstAt === null) continue
    const index = Math.max(0, starts.findLastIndex((start) => start <= (node.firstAt as number)))
    counts[index] = (counts[index] ?? 0) + 1
  }
  return {
    step,
    undated,
    buckets: starts.map((start, index) => ({ start, end: next(start, step), count: counts[index] ?? 0 })),
  }
}

export function wholeRange(timeline: Timeline): Range {
  return { from: 0, to: timeline.buckets.length - 1 }
}

export function isWhole(timeline: Timeline, range: Range): boolean {
  return range.from <= 0 && range.to >= timeline.buckets.length - 1
}

/**
 * Whether a node is about a time in the range. One that spans several days counts for each of them; one
 * without a date only while nothing is cut off. The first bucket holds what is before it too, the last what is behind.
 */
export function inRange(node: GraphNode, timeline: Timeline, range: Range): boolean {
  if (isWhole(timeline, range)) return true
  const start = range.from <= 0 ? -Infinity : timeline.buckets[range.from]?.start
  const end = range.to >= timeline.buckets.length - 1 ? Infinity : timeline.buckets[range.to]?.end
  if (node.firstAt === null || start === undefined || end === undefined) return false
  return node.firstAt < end && (node.lastAt ?? node.firstAt) >= start
}

/** Dates before and behind these are far from all others. */
function fences(times: readonly number[]): [number, number] {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  const spread = Math.max(at(0.75) - at(0.25), 365 * DAY)
  return [at(0.25) - FAR * spread, at(0.75) + FAR * spread]
}

/** `Date.UTC` takes the years 0 to 99 for those of the last century. */
export function utc(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day)
}

function stepFor(span: number): Step {
  if (span <= MOST_BUCKETS * DAY) return 'day'
  if (span <= MOST_BUCKETS * 7 * DAY) return 'week'
  if (span <= MOST_BUCKETS * 30 * DAY) return 'month'
  if (span <= MOST_BUCKETS * 366 * DAY) return 'year'
  return span <= MOST_BUCKETS * 3_660 * DAY ? 'decade' : 'century'
}

function floor(time: number, step: Step): number {
  const date = new Date(time)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  switch (step) {
    case 'day':
      return utc(year, month, day)
    case 'week':
      // Monday: getUTCDay counts from Sunday.
      return utc(year, month, day - ((date.getUTCDay() + 6) % 7))
    case 'month':
      return utc(year, month, 1)
    case 'year':
      return utc(year, 0, 1)
    case 'decade':
      return utc(year - (year % 10), 0, 1)
    case 'century':
      return utc(year - (year % 100), 0, 1)
  }
}

function next(start: number, step: Step): number {
  const date = new Date(start)
  switch (step) {
    case 'day':
      return start + DAY
    case 'week':
      return start + 7 * DAY
    case 'month':
      return utc(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    case 'year':
      return utc(date.getUTCFullYear() + 1, 0, 1)
    case 'decade':
      return utc(date.getUTCFullYear() + 10, 0, 1)
    case 'century':
      return utc(date.getUTCFullYear() + 100, 0, 1)
  }
}
