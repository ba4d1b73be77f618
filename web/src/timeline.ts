/*
 * Time as the timeline shows it: equal calendar steps from the first date to the last.
 *
 * All dates are taken in UTC: a memory's date is a day, written as noon UTC, and must not move with the
 * reader's time zone.
 */
import type { GraphNode } from './graph'

export type Step = 'day' | 'week' | 'month' | 'year'

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

/** Null where fewer than two dates differ: there is nothing to choose. */
export function timelineOf(nodes: readonly GraphNode[]): Timeline | null {
  let first = Infinity
  let last = -Infinity
  let undated = 0
  for (const node of nodes) {
    if (node.firstAt === null) undated += 1
    else {
      first = Math.min(first, node.firstAt)
      last = Math.max(last, node.lastAt ?? node.firstAt, node.firstAt)
    }
  }
  if (!(last - first >= DAY)) return null

  const step = stepFor(last - first)
  const starts: number[] = []
  for (let start = floor(first, step); start <= last; start = next(start, step)) starts.push(start)
  const counts = new Array<number>(starts.length).fill(0)
  for (const node of nodes) {
    if (node.firstAt === null) continue
    const index = starts.findLastIndex((start) => start <= (node.firstAt as number))
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
 * without a date only while nothing is cut off.
 */
export function inRange(node: GraphNode, timeline: Timeline, range: Range): boolean {
  if (isWhole(timeline, range)) return true
  const start = timeline.buckets[range.from]?.start
  const end = timeline.buckets[range.to]?.end
  if (node.firstAt === null || start === undefined || end === undefined) return false
  return node.firstAt < end && (node.lastAt ?? node.firstAt) >= start
}

function stepFor(span: number): Step {
  if (span <= MOST_BUCKETS * DAY) return 'day'
  if (span <= MOST_BUCKETS * 7 * DAY) return 'week'
  if (span <= MOST_BUCKETS * 30 * DAY) return 'month'
  return 'year'
}

function floor(time: number, step: Step): number {
  const date = new Date(time)
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  switch (step) {
    case 'day':
      return Date.UTC(year, month, day)
    case 'week':
      // Monday: getUTCDay counts from Sunday.
      return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7))
    case 'month':
      return Date.UTC(year, month, 1)
    case 'year':
      return Date.UTC(year, 0, 1)
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
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
    case 'year':
      return Date.UTC(date.getUTCFullYear() + 1, 0, 1)
  }
}
