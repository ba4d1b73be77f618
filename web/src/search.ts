/*
 * Search within the nodes of the page: every word of the query must occur in title, path, tags, entities
 * or preview. Plain substring search, made for a few thousand nodes; the database's search is another thing.
 */
import { byDate } from './filter'
import type { GraphNode } from './graph'

export interface Index {
  readonly entries: readonly Entry[]
}

interface Entry {
  readonly node: GraphNode
  readonly title: string
  readonly names: string
  readonly text: string
}

/** A stretch of text, `hit` where it matches the query. */
export interface Piece {
  readonly text: string
  readonly hit: boolean
}

export function indexOf(nodes: readonly GraphNode[]): Index {
  return {
    entries: nodes.map((node) => ({
      node,
      title: fold(node.title),
      names: fold([...node.entities, ...node.tags].join('\n')),
      text: fold(`${node.path}\n${node.preview}`),
    })),
  }
}

/** The words of a query; none where it is blank. */
export function termsOf(query: string): string[] {
  return fold(query).split(/\s+/u).filter((term) => term !== '')
}

/** Nodes that contain every term: matches of titles first, then of names, then of text; the newest first. */
export function find(index: Index, terms: readonly string[]): GraphNode[] {
  const found: { node: GraphNode; rank: number }[] = []
  for (const { node, title, names, text } of index.entries) {
    let rank = 0
    for (const term of terms) {
      const place = title.includes(term) ? 0 : names.includes(term) ? 1 : text.includes(term) ? 2 : 3
      rank = Math.max(rank, place)
    }
    if (rank < 3) found.push({ node, rank })
  }
  return found.sort((a, b) => a.rank - b.rank || byDate(a.node, b.node)).map(({ node }) => node)
}

/** Cuts a text where a term begins or ends, so that it can be marked without any HTML being built. */
export function piecesOf(text: string, terms: readonly string[]): Piece[] {
  const folded = fold(text)
  // Folding may change the length (ﬁ -> fi): places in one text then mean nothing in the other.
  if (terms.length === 0 || folded.length !== text.length) return [{ text, hit: false }]
  const hit = new Array<boolean>(text.length).fill(false)
  for (const term of terms) {
    for (let at = folded.indexOf(term); at >= 0; at = folded.indexOf(term, at + term.length)) {
      hit.fill(true, at, at + term.length)
    }
  }
  const pieces: Piece[] = []
  for (let from = 0, to = 1; to <= text.length; to += 1) {
    if (to === text.length || hit[to] !== hit[from]) {
      pieces.push({ text: text.slice(from, to), hit: hit[from] ?? false })
      from = to
    }
  }
  return pieces
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}
