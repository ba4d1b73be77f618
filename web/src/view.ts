/*
 * The state of the page over one graph: what the controls say, and all that follows from it. Components
 * read it and set the controls; nothing here touches the document or the canvas.
 */
import { computed, inject, ref, shallowRef, type ComputedRef, type InjectionKey, type Ref } from 'vue'
import { byDate, edgesShown, initialWeight, neighbourhood, weightBounds } from './filter'
import type { Graph, GraphEdge, GraphNode } from './graph'
import { groupsOf, naturalGrouping, type Group, type GroupBy } from './group'
import { find, indexOf, termsOf } from './search'
import { needed } from './settings'
import { inRange, isWhole, timelineOf, wholeRange, type Range, type Timeline } from './timeline'

export interface View {
  readonly graph: Graph
  readonly timeline: Timeline | null
  readonly bounds: ReturnType<typeof weightBounds>

  // Controls.
  readonly minWeight: Ref<number>
  readonly range: Ref<Range>
  readonly query: Ref<string>
  readonly groupBy: Ref<GroupBy>
  /** The legend's chosen group, by key. */
  readonly group: Ref<string | null>
  readonly selected: Ref<string | null>
  readonly hovered: Ref<string | null>

  // What follows.
  readonly nodes: ComputedRef<readonly GraphNode[]>
  readonly nodeIds: ComputedRef<ReadonlySet<string>>
  readonly edges: ComputedRef<readonly GraphEdge[]>
  readonly undatedHidden: ComputedRef<number>
  readonly terms: ComputedRef<readonly string[]>
  /** Null where nothing is searched for. */
  readonly hits: ComputedRef<readonly GraphNode[] | null>
  readonly hitIds: ComputedRef<ReadonlySet<string> | null>
  readonly groups: ComputedRef<readonly Group[]>
  readonly focus: ComputedRef<string | null>
  readonly emphasised: ComputedRef<ReadonlySet<string> | null>
  node(id: string | null): GraphNode | undefined
  byPath(path: string): GraphNode | undefined
}

export const viewKey: InjectionKey<View> = Symbol('view')

export function createView(graph: Graph): View {
  const timeline = timelineOf(graph.nodes)
  const bounds = weightBounds(graph)
  const index = indexOf(graph.nodes)
  const byId = new Map(graph.nodes.map((node) => [node.id, node]))
  const byPath = new Map(graph.nodes.map((node) => [node.path, node]))
  const sorted = [...graph.nodes].sort(byDate)

  const minWeight = ref(initialWeight(graph, bounds))
  const range = shallowRef<Range>(timeline ? wholeRange(timeline) : { from: 0, to: 0 })
  const query = ref('')
  const groupBy = ref<GroupBy>(naturalGrouping(graph.nodes))
  const group = ref<string | null>(null)
  const selected = ref<string | null>(null)
  const hovered = ref<string | null>(null)

  const nodes = computed(() =>
    timeline ? sorted.filter((node) => inRange(node, timeline, range.value)) : sorted,
  )
  const nodeIds = computed(() => new Set(nodes.value.map((node) => node.id)))
  const edges = computed(() => edgesShown(graph.edges, minWeight.value, nodeIds.value))
  const undatedHidden = computed(() =>
    timeline && !isWhole(timeline, range.value) ? timeline.undated : 0,
  )

  const terms = computed(() => termsOf(query.value))
  const hits = computed(() =>
    terms.value.length > 0 ? find(index, terms.value).filter((node) => nodeIds.value.has(node.id)) : null,
  )
  const hitIds = computed(() => (hits.value ? new Set(hits.value.map((node) => node.id)) : null))
  const groups = computed(() => groupsOf(graph.nodes, groupBy.value))

  // The pointer says more than the click before it; both say more than search, and search more than the legend.
  const focus = computed(() => {
    const id = hovered.value ?? selected.value
    return id !== null && nodeIds.value.has(id) ? id : null
  })
  const emphasised = computed<ReadonlySet<string> | null>(() => {
    if (focus.value !== null) return neighbourhood(edges.value, focus.value)
    if (hitIds.value) return hitIds.value
    return groups.value.find(({ key }) => key === group.value)?.nodes ?? null
  })

  return {
    graph,
    timeline,
    bounds,
    minWeight,
    range,
    query,
    groupBy,
    group,
    selected,
    hovered,
    nodes,
    nodeIds,
    edges,
    undatedHidden,
    terms,
    hits,
    hitIds,
    groups,
    focus,
    emphasised,
    node: (id) => (id === null ? undefined : byId.get(id)),
    // What names a document is its id where the edges say it, its path where the server does.
    byPath: (path) => byId.get(path) ?? byPath.get(path),
  }
}

export function useView(): View {
  return needed(inject(viewKey), 'view')
}
