/*
 * The graph as the page works with it, and reading it from JSON.
 *
 * `readGraph` is the one place that knows the form of the JSON document (README.md describes it). What
 * comes out of it is complete and consistent: no field missing, no edge without its two nodes, no pair
 * of nodes joined twice. Knows nothing of the screen.
 */

export interface GraphNode {
  readonly id: string
  readonly path: string
  readonly title: string
  readonly chunks: number
  readonly characters: number
  /** Milliseconds since 1970, null where no date is known. */
  readonly firstAt: number | null
  readonly lastAt: number | null
  readonly tags: readonly string[]
  readonly entities: readonly string[]
  readonly preview: string
}

export interface GraphEdge {
  readonly source: string
  readonly target: string
  /** 0 to 1. */
  readonly weight: number
  /** Cosine of the two vectors, null where one of them has none. */
  readonly similarity: number | null
  readonly shared: readonly string[]
}

export interface Similarity {
  readonly min: number
  readonly mean: number
  readonly deviation: number
  readonly max: number
}

export interface Graph {
  readonly namespace: string
  readonly model: string
  readonly similarity: Similarity | null
  /** Edges at least this strong are shown at first; null: all. */
  readonly defaultWeight: number | null
  readonly totalPaths: number
  readonly truncated: boolean
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

/** One neighbour of a node. */
export interface Neighbour {
  readonly path: string
  readonly weight: number
  readonly similarity: number | null
  readonly shared: readonly string[]
}

/** The document is not a graph at all: not an object, or without a list of nodes. */
export class NotAGraph extends Error {}

export function readGraph(json: unknown): Graph {
  const document = record(json)
  if (!document || !Array.isArray(document['nodes'])) throw new NotAGraph('not a graph document')

  const nodes = new Map<string, GraphNode>()
  for (const item of document['nodes'] as unknown[]) {
    const node = readNode(item)
    if (node && !nodes.has(node.id)) nodes.set(node.id, node)
  }

  const edges = new Map<string, GraphEdge>()
  for (const item of list(document['edges'])) {
    const edge = readEdge(item)
    if (!edge || edge.source === edge.target) continue
    if (!nodes.has(edge.source) || !nodes.has(edge.target)) continue
    const key = JSON.stringify([edge.source, edge.target].sort())
    const known = edges.get(key)
    if (!known || known.weight < edge.weight) edges.set(key, edge)
  }

  const defaultWeight = number(document['default_weight'])
  return {
    namespace: string(document['namespace']),
    model: string(document['model']),
    similarity: readSimilarity(document['similarity']),
    defaultWeight: defaultWeight === null ? null : clamp(defaultWeight),
    totalPaths: number(document['total_paths']) ?? nodes.size,
    truncated: document['truncated'] === true,
    nodes: [...nodes.values()],
    edges: [...edges.values()],
  }
}

/** The answer of `api/related`: `{"related": [{"path", "weight", "similarity", "shared"}]}`. */
export function readRelated(json: unknown): Neighbour[] {
  return list(record(json)?.['related']).flatMap((item) => {
    const row = record(item)
    const path = string(row?.['path'])
    return row && path ? [{ path, ...strength(row) }] : []
  })
}

export function neighboursOf(edges: readonly GraphEdge[], id: string): Neighbour[] {
  return edges
    .filter((edge) => edge.source === id || edge.target === id)
    .map((edge) => ({
      path: edge.source === id ? edge.target : edge.source,
      weight: edge.weight,
      similarity: edge.similarity,
      shared: edge.shared,
    }))
    .sort((a, b) => b.weight - a.weight || (a.path < b.path ? -1 : 1))
}

function readNode(json: unknown): GraphNode | null {
  const row = record(json)
  const path = string(row?.['path'])
  const id = string(row?.['id']) || path
  if (!row || !id) return null
  const firstAt = time(row['first_at'])
  return {
    id,
    path: path || id,
    title: shown(string(row['title'])) || shown(path) || shown(id),
    chunks: number(row['chunks']) ?? 0,
    characters: number(row['characters']) ?? 0,
    firstAt,
    lastAt: time(row['last_at']) ?? firstAt,
    tags: strings(row['tags']),
    entities: strings(row['entities']),
    preview: shown(string(row['preview'])),
  }
}

function readEdge(json: unknown): GraphEdge | null {
  const row = record(json)
  if (!row) return null
  return { source: string(row['source']), target: string(row['target']), ...strength(row) }
}

function strength(row: Record<string, unknown>): Omit<Neighbour, 'path'> {
  return {
    weight: clamp(number(row['weight']) ?? 0),
    similarity: number(row['similarity']),
    shared: strings(row['shared']),
  }
}

function readSimilarity(json: unknown): Similarity | null {
  const row = record(json)
  const min = number(row?.['min'])
  const mean = number(row?.['mean'])
  const max = number(row?.['max'])
  if (min === null || mean === null || max === null) return null
  return { min, mean, max, deviation: number(row?.['deviation']) ?? 0 }
}

function record(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Without the characters that turn the direction of what stands around them. */
function shown(text: string): string {
  return text.replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '')
}

function strings(value: unknown): string[] {
  return list(value).flatMap((item) => (typeof item === 'string' && shown(item) !== '' ? [shown(item)] : []))
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function time(value: unknown): number | null {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(milliseconds) ? null : milliseconds
}

function clamp(weight: number): number {
  return Math.min(1, Math.max(0, weight))
}
