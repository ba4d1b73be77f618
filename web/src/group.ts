/*
 * Groups of nodes for colour and legend: by time or by folder. A group's place in the list is its place
 * in the palette; groups of time are in order of time, folders by size.
 */
import type { GraphNode } from './graph'
import { utc } from './timeline'

export type GroupBy = 'time' | 'folder'

export type GroupName =
  | { readonly kind: 'month' | 'quarter' | 'year'; readonly start: number }
  | { readonly kind: 'folder'; readonly name: string }
  /** Files beside the folders; `name` is the folder they lie in, if any. */
  | { readonly kind: 'top'; readonly name: string }
  /** Folders too small for a colour of their own; nodes without a date. */
  | { readonly kind: 'other' | 'undated' }

export interface Group {
  readonly key: string
  readonly name: GroupName
  readonly nodes: ReadonlySet<string>
}

/** So many colours can be told apart. */
export const MOST_FOLDERS = 8
const MOST_TIMES = 12

export function groupsOf(nodes: readonly GraphNode[], by: GroupBy): Group[] {
  return by === 'time' ? groupsOfTime(nodes) : groupsOfFolder(nodes)
}

/** Time where that makes more than one group, else folders. */
export function naturalGrouping(nodes: readonly GraphNode[]): GroupBy {
  return groupsOfTime(nodes).filter((group) => group.name.kind !== 'undated').length > 1 ? 'time' : 'folder'
}

function groupsOfTime(nodes: readonly GraphNode[]): Group[] {
  for (const kind of ['month', 'quarter', 'year'] as const) {
    const starts = new Map<number, Set<string>>()
    const undated = new Set<string>()
    for (const node of nodes) {
      if (node.firstAt === null) undated.add(node.id)
      else collect(starts, startOf(node.firstAt, kind), node.id)
    }
    if (starts.size > MOST_TIMES && kind !== 'year') continue
    const groups: Group[] = [...starts]
      .sort(([a], [b]) => a - b)
      .map(([start, ids]) => ({ key: `${kind} ${start}`, name: { kind, start }, nodes: ids }))
    if (undated.size > 0) groups.push({ key: 'undated', name: { kind: 'undated' }, nodes: undated })
    return groups
  }
  return []
}

function groupsOfFolder(nodes: readonly GraphNode[]): Group[] {
  const common = commonFolders(nodes.map((node) => node.path))
  const folders = new Map<string, Set<string>>()
  const top = new Set<string>()
  for (const node of nodes) {
    const rest = foldersOf(node.path).slice(common)
    if (rest[0] === undefined) top.add(node.id)
    else collect(folders, rest[0], node.id)
  }
  const sorted = [...folders].sort(([a, x], [b, y]) => y.size - x.size || (a < b ? -1 : 1))
  const named = sorted.length + (top.size > 0 ? 1 : 0) <= MOST_FOLDERS ? sorted : sorted.slice(0, MOST_FOLDERS - 2)
  const groups: Group[] = named.map(([name, ids]) => ({
    key: `folder ${name}`,
    name: { kind: 'folder', name },
    nodes: ids,
  }))
  if (top.size > 0) {
    const name = foldersOf(nodes[0]?.path ?? '')[common - 1] ?? ''
    groups.unshift({ key: 'top', name: { kind: 'top', name }, nodes: top })
  }
  const other = new Set(sorted.slice(named.length).flatMap(([, ids]) => [...ids]))
  if (other.size > 0) groups.push({ key: 'other', name: { kind: 'other' }, nodes: other })
  return groups
}

/** How many leading folders all paths have in common: they tell nothing apart. */
function commonFolders(paths: readonly string[]): number {
  const [first, ...rest] = paths.map(foldersOf)
  let common = first?.length ?? 0
  for (const folders of rest) {
    let same = 0
    while (same < common && folders[same] === first?.[same]) same += 1
    common = same
  }
  return common
}

function foldersOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '').slice(0, -1)
}

function startOf(time: number, kind: 'month' | 'quarter' | 'year'): number {
  const date = new Date(time)
  const month = date.getUTCMonth()
  return utc(date.getUTCFullYear(), kind === 'month' ? month : kind === 'quarter' ? month - (month % 3) : 0, 1)
}

function collect<Key>(groups: Map<Key, Set<string>>, key: Key, id: string): void {
  const group = groups.get(key)
  if (group) group.add(id)
  else groups.set(key, new Set([id]))
}
