/*
 * Which nodes and edges are shown, as pure functions of the controls' values.
 */
import type { Graph, GraphEdge, GraphNode } from './graph'

/** The ends of the strength slider. */
export interface Bounds {
  readonly low: number
  readonly high: number
}

export const WEIGHT_STEP = 0.01

/** From the weakest edge to the strongest, widened to whole steps and to the default. */
export function weightBounds(graph: Graph): Bounds {
  const weights = graph.edges.map((edge) => edge.weight)
  if (weights.length === 0) return { low: 0, high: 1 }
  const all = graph.defaultWeight === null ? weights : [...weights, graph.defaultWeight]
  let low = 1
  let high = 0
  for (const weight of all) {
    low = Math.min(low, weight)
    high = Math.max(high, weight)
  }
  const steps = Math.round(1 / WEIGHT_STEP)
  return { low: Math.floor(low * steps) / steps, high: Math.ceil(high * steps) / steps }
}

/** Where the slider stands at first: everything is shown where the document gives no default. */
export function initialWeight(graph: Graph, bounds: Bounds): number {
  return graph.defaultWeight ?? bounds.low
}

/** A weight's place between the bounds, 0 to 1; 1 where all edges weigh the same. */
export function relativeWeight(weight: number, { low, high }: Bounds): number {
  return high > low ? Math.min(1, Math.max(0, (weight - low) / (high - low))) : 1
}

export function edgesShown(
  edges: readonly GraphEdge[],
  minWeight: number,
  nodes: ReadonlySet<string>,
): GraphEdge[] {
  return edges.filter(
    (edge) => edge.weight >= minWeight && nodes.has(edge.source) && nodes.has(edge.target),
  )
}

/** Node and everything one edge away. */
export function neighbourhood(edges: readonly GraphEdge[], id: string): Set<string> {
  const near = new Set([id])
  for (const edge of edges) {
    if (edge.source === id) near.add(edge.target)
    else if (edge.target === id) near.add(edge.source)
  }
  return near
}

/** How many edges each node has. */
export function degrees(edges: readonly GraphEdge[]): Map<string, number> {
  const count = new Map<string, number>()
  for (const { source, target } of edges) {
    count.set(source, (count.get(source) ?? 0) + 1)
    count.set(target, (count.get(target) ?? 0) + 1)
  }
  return count
}

/** Edges in equal classes of weight between the bounds, for the bars above the slider. */
export function weightHistogram(edges: readonly GraphEdge[], bounds: Bounds, classes: number): number[] {
  const counts = new Array<number>(classes).fill(0)
  for (const edge of edges) {
    const place = Math.min(classes - 1, Math.floor(relativeWeight(edge.weight, bounds) * classes))
    counts[place] = (counts[place] ?? 0) + 1
  }
  return counts
}

// Before every date a Date can hold, and finite, so that two of them differ by 0 and not by NaN.
const UNDATED = -1e16

/** The newest first, undated last, then by path: an order without ties. */
export function byDate(a: GraphNode, b: GraphNode): number {
  const [first, second] = [a.firstAt ?? UNDATED, b.firstAt ?? UNDATED]
  return second - first || (a.path < b.path ? -1 : 1)
}
