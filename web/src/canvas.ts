/*
 * The drawing: force-graph set up once, and told what to show. Layout, zoom, drag and hit testing are
 * force-graph's; nodes, labels and what is emphasised are drawn here.
 *
 * What must hold: no text of a memory ever reaches force-graph's own labels, which are HTML. Positions
 * change only by layout or drag, never because a filter moved: a reader finds a node where it was.
 */
import ForceGraph from 'force-graph'
import { degrees, relativeWeight, type Bounds } from './filter'
import type { Graph, GraphEdge, GraphNode } from './graph'
import type { Palette } from './palette'

/** What is drawn, apart from where. */
export interface Scene {
  /** Nodes within the timeline's range. */
  readonly nodes: ReadonlySet<string>
  readonly minWeight: number
  readonly bounds: Bounds
  /** Nodes to bring out, all others stand back; null: all alike. */
  readonly emphasised: ReadonlySet<string> | null
  /** The node whose lines are brought out. */
  readonly focus: string | null
  readonly selected: string | null
  /** Ringed as results of the search. */
  readonly hits: ReadonlySet<string> | null
  readonly colours: ReadonlyMap<string, string>
  readonly palette: Palette
}

export interface Events {
  hover(id: string | null): void
  choose(id: string | null): void
}

export interface Canvas {
  show(scene: Scene): void
  resize(width: number, height: number): void
  /** Brings a node into view; one that is in view already stays where it is. */
  reveal(id: string): void
  fit(): void
  zoomBy(factor: number): void
  panBy(x: number, y: number): void
  /** Lays the graph out again, drawn together by the lines shown only. */
  arrange(): void
  dispose(): void
}

interface Dot {
  readonly id: string
  readonly node: GraphNode
  readonly radius: number
  readonly degree: number
  x?: number
  y?: number
  vx?: number
  vy?: number
}

interface Line {
  readonly edge: GraphEdge
  // Ids at first; force-graph puts the nodes in their place.
  source: string | Dot
  target: string | Dot
}

const SMALLEST = 3.5
const LARGEST = 12
const FIT_MARGIN = 56
/** A few nodes are not blown up to fill the window. */
const LARGEST_FIT = 2
/** Closer than this a node and its neighbours can be told apart. */
const NEAR = 0.8
const LABEL_SIZE = 12
/** Labels on screen at once; more cannot be read, and their placing costs time. */
const MOST_LABELS = 160
/** Up to this size the layout is finished before the first frame: the page does not move when it opens. */
const SETTLED_AT_ONCE = 300
const FONT = '"Inter", system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif'

export function createCanvas(element: HTMLElement, graph: Graph, first: Scene, events: Events): Canvas {
  let scene = first
  let width = element.clientWidth
  let height = element.clientHeight
  // Until the reader moves the view it follows the layout.
  let following = true

  const large = graph.nodes.length > SETTLED_AT_ONCE
  const still = window.matchMedia('(prefers-reduced-motion: reduce)')
  const duration = (milliseconds: number) => (still.matches ? 0 : milliseconds)

  const degree = degrees(graph.edges)
  const longest = Math.max(1, ...graph.nodes.map((node) => node.characters))
  const dots: Dot[] = graph.nodes.map((node) => ({
    id: node.id,
    node,
    radius: SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(node.characters / longest),
    degree: degree.get(node.id) ?? 0,
  }))
  const byId = new Map(dots.map((dot) => [dot.id, dot]))
  const lines: Line[] = graph.edges.map((edge) => ({ edge, source: edge.source, target: edge.target }))
  // The order in which labels get their place.
  const byImportance = [...dots].sort((a, b) => b.degree - a.degree || b.radius - a.radius || (a.id < b.id ? -1 : 1))
  const labelWidths = new Map<string, number>()

  const shown = (edge: GraphEdge) =>
    edge.weight >= scene.minWeight && scene.nodes.has(edge.source) && scene.nodes.has(edge.target)
  const strength = (edge: GraphEdge) => relativeWeight(edge.weight, scene.bounds)
  const touches = (edge: GraphEdge, id: string | null) => id !== null && (edge.source === id || edge.target === id)
  const standsBack = (id: string) => scene.emphasised !== null && !scene.emphasised.has(id)

  const view = new ForceGraph<Dot, Line>(element)
    .width(width)
    .height(height)
    .backgroundColor('rgba(0,0,0,0)')
    .minZoom(0.05)
    .maxZoom(12)
    .nodeLabel(() => '')
    .linkLabel(() => '')
    .nodeRelSize(1)
    .nodeVal((dot) => dot.radius ** 2)
    .nodeVisibility((dot) => scene.nodes.has(dot.id))
    .nodeCanvasObject(drawDot)
    .nodePointerAreaPaint((dot, colour, context, scale) => {
      // At least 8 pixels on the screen, however far away.
      circle(context, dot, Math.max(dot.radius + 1, 8 / scale))
      context.fillStyle = colour
      context.fill()
    })
    .linkVisibility((line) => shown(line.edge))
    .linkColor((line) => lineColour(line.edge))
    .linkWidth((line) => lineWidth(line.edge))
    // Lines do not react to the pointer; not painting them there spares half the work of a frame.
    .linkPointerAreaPaint(() => undefined)
    .onRenderFramePost((context) => drawLabels(context))
    .onNodeHover((dot) => events.hover(dot?.id ?? null))
    .onNodeClick((dot) => events.choose(dot.id))
    .onBackgroundClick(() => events.choose(null))
    .onNodeDrag(() => {
      following = false
    })
    .onEngineTick(follow)
    .onEngineStop(follow)
    .d3AlphaDecay(large ? 0.03 : 0.0228)
    .d3VelocityDecay(0.3)
    .warmupTicks(large ? (still.matches ? 200 : 60) : 300)
    // The layout is done when it has cooled down, or after this time on a slow machine.
    .d3AlphaMin(0.002)
    .cooldownTime(30_000)
    .cooldownTicks(still.matches ? 0 : Infinity)

  // The forces. Strong links pull close, large nodes keep their distance, and a light pull to the middle
  // keeps apart what has no link without losing it.
  view
    .d3Force('charge')
    ?.['strength']((dot: Dot) => -(large ? 60 : 110) - dot.radius * 8)
    ['distanceMax'](large ? 400 : 260)
  view
    .d3Force('link')
    ?.['distance']((line: Line) => 36 + 70 * (1 - strength(line.edge)))
    ['strength'](pull)
  view.d3Force('gravity', gravity(large ? 0.04 : 0.09))
  view.d3Force('apart', apart())
  view.graphData({ nodes: dots, links: lines })

  const leave = () => {
    following = false
  }
  element.addEventListener('wheel', leave, { passive: true })
  element.addEventListener('pointerdown', leave, { passive: true })

  /** As d3 has it, by the smaller degree of the two ends, but by weight, and nothing where the line is hidden. */
  function pull(line: Line): number {
    if (!shown(line.edge)) return 0
    const ends = Math.min(degree.get(line.edge.source) ?? 1, degree.get(line.edge.target) ?? 1)
    return (0.4 + 0.6 * strength(line.edge)) / Math.max(1, ends)
  }

  function gravity(amount: number) {
    return (alpha: number) => {
      for (const dot of dots) {
        dot.vx = (dot.vx ?? 0) - (dot.x ?? 0) * amount * alpha
        // The window is wider than it is high.
        dot.vy = (dot.vy ?? 0) - (dot.y ?? 0) * amount * 1.5 * alpha
      }
    }
  }

  /** Keeps dots from covering one another. Neighbours are found by cells of the largest dot's width. */
  function apart() {
    const cell = 2 * LARGEST + 6
    return (alpha: number) => {
      const cells = new Map<number, Dot[]>()
      const key = (column: number, row: number) => column * 65_536 + row
      for (const dot of dots) {
        const place = key(Math.floor((dot.x ?? 0) / cell), Math.floor((dot.y ?? 0) / cell))
        const there = cells.get(place)
        if (there) there.push(dot)
        else cells.set(place, [dot])
      }
      for (const dot of dots) {
        const column = Math.floor((dot.x ?? 0) / cell)
        const row = Math.floor((dot.y ?? 0) / cell)
        for (let dx = -1; dx <= 1; dx += 1) {
          for (let dy = -1; dy <= 1; dy += 1) {
            for (const other of cells.get(key(column + dx, row + dy)) ?? []) {
              if (other.id <= dot.id) continue
              const x = (other.x ?? 0) - (dot.x ?? 0)
              const y = (other.y ?? 0) - (dot.y ?? 0)
              const distance = Math.hypot(x, y)
              const wanted = dot.radius + other.radius + 4
              if (distance >= wanted || distance === 0) continue
              const push = ((wanted - distance) / distance) * 0.5 * Math.min(1, alpha * 4)
              dot.vx = (dot.vx ?? 0) - x * push
              dot.vy = (dot.vy ?? 0) - y * push
              other.vx = (other.vx ?? 0) + x * push
              other.vy = (other.vy ?? 0) + y * push
            }
          }
        }
      }
    }
  }

  // Few colours and widths, so that force-graph can draw all lines of a kind in one stroke.
  function lineColour(edge: GraphEdge): string {
    const { palette, emphasised, focus } = scene
    if (touches(edge, focus)) return palette.lineNear
    if (emphasised && !(focus === null && emphasised.has(edge.source) && emphasised.has(edge.target))) {
      return palette.lineFar
    }
    const place = Math.min(palette.lines.length - 1, Math.floor(strength(edge) * palette.lines.length))
    const colour = palette.lines[place] ?? palette.muted
    // Thousands of lines lie over one another: half transparent, so that dense places show as such.
    return large ? `${colour}80` : colour
  }

  function lineWidth(edge: GraphEdge): number {
    const place = Math.round(strength(edge) * 4) / 4
    const width = 0.8 + place * 2.6
    if (touches(edge, scene.focus)) return width + 0.4
    // From far away lines get thinner with everything else; near by they keep their width.
    return large ? width * Math.min(1, Math.max(0.25, view.zoom())) : width
  }

  function drawDot(dot: Dot, context: CanvasRenderingContext2D, scale: number): void {
    const { palette, hits, selected, focus } = scene
    context.save()
    if (standsBack(dot.id)) context.globalAlpha = 0.14
    circle(context, dot, dot.radius)
    context.fillStyle = scene.colours.get(dot.id) ?? palette.none
    context.fill()
    // A rim of paper keeps neighbouring dots and lines apart.
    context.lineWidth = 1.25 / scale
    context.strokeStyle = palette.paper
    context.stroke()
    context.globalAlpha = 1
    const ring = dot.id === selected ? palette.ink : hits?.has(dot.id) ? palette.accent : null
    if (ring ?? dot.id === focus) {
      circle(context, dot, dot.radius + 2.5 / scale)
      context.lineWidth = 2 / scale
      context.strokeStyle = ring ?? palette.ink
      context.stroke()
    }
    context.restore()
  }

  /** Labels in pixels of the screen, the important ones first, each only where no other is. */
  function drawLabels(context: CanvasRenderingContext2D): void {
    const scale = view.zoom()
    const ratio = window.devicePixelRatio
    const { palette, emphasised, selected, focus } = scene
    const taken = new Places()
    const candidates = emphasised ? byImportance.filter((dot) => emphasised.has(dot.id)) : byImportance
    const leading = [selected, focus].flatMap((id) => byId.get(id ?? '') ?? [])
    let count = 0

    context.save()
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.textAlign = 'center'
    context.textBaseline = 'top'
    context.lineJoin = 'round'
    for (const dot of [...leading, ...candidates]) {
      if (count >= MOST_LABELS) break
      if (!scene.nodes.has(dot.id) || dot.x === undefined || dot.y === undefined) continue
      const leads = dot.id === selected || dot.id === focus
      // From far away only what stands out is named.
      if (!leads && !emphasised && large && dot.radius * scale < 5) continue
      const { x, y } = view.graph2ScreenCoords(dot.x, dot.y)
      if (x < -80 || y < -20 || x > width + 80 || y > height + 20) continue
      const font = `${leads ? 600 : 400} ${LABEL_SIZE}px ${FONT}`
      context.font = font
      const text = shorten(dot.node.title, leads ? 40 : 22)
      const labelWidth = measured(context, font, text)
      const ringed = leads || scene.hits?.has(dot.id) === true
      const top = y + dot.radius * scale + (ringed ? 8 : 4)
      const half = labelWidth / 2 + 3
      if (!taken.take(x - half, top - 1, x + half, top + LABEL_SIZE + 3, dot.id) && !leads) continue
      context.lineWidth = 4
      context.strokeStyle = palette.paper
      context.strokeText(text, x, top)
      context.fillStyle = leads || emphasised ? palette.ink : palette.muted
      context.fillText(text, x, top)
      count += 1
    }
    context.restore()
  }

  function measured(context: CanvasRenderingContext2D, font: string, text: string): number {
    const key = font + text
    let known = labelWidths.get(key)
    if (known === undefined) {
      known = context.measureText(text).width
      labelWidths.set(key, known)
    }
    return known
  }

  function follow(): void {
    if (following) fitNow(0)
  }

  function fitNow(milliseconds: number): void {
    const box = view.getGraphBbox((dot) => scene.nodes.has(dot.id)) as ReturnType<typeof view.getGraphBbox> | null
    if (!box || width <= 0 || height <= 0) return
    const [left, right] = box.x
    const [top, bottom] = box.y
    // Before the first step of the layout nodes are nowhere.
    if (!Number.isFinite(left) || !Number.isFinite(top)) return
    const scale = Math.min(
      LARGEST_FIT,
      Math.max(1, width - 2 * FIT_MARGIN) / Math.max(1, right - left),
      Math.max(1, height - 2 * FIT_MARGIN) / Math.max(1, bottom - top),
    )
    // Labels hang below their nodes: a little more room there.
    view.centerAt((left + right) / 2, (top + bottom) / 2 + 6 / scale, milliseconds)
    view.zoom(scale, milliseconds)
  }

  return {
    show(next) {
      scene = next
      // Any styling setter makes force-graph draw again; its accessors read the scene.
      view.nodeCanvasObject(drawDot)
    },
    resize(nextWidth, nextHeight) {
      width = nextWidth
      height = nextHeight
      view.width(width).height(height)
      if (following) fitNow(0)
    },
    reveal(id) {
      const dot = byId.get(id)
      if (dot?.x === undefined || dot.y === undefined) return
      following = false
      const { x, y } = view.graph2ScreenCoords(dot.x, dot.y)
      const near = view.zoom() >= NEAR
      const inside = x > FIT_MARGIN && y > FIT_MARGIN && x < width - FIT_MARGIN && y < height - FIT_MARGIN
      if (near && inside) return
      view.centerAt(dot.x, dot.y, duration(450))
      if (!near) view.zoom(NEAR * 1.25, duration(450))
    },
    fit() {
      following = true
      fitNow(duration(350))
    },
    zoomBy(factor) {
      following = false
      view.zoom(Math.min(12, Math.max(0.05, view.zoom() * factor)), duration(180))
    },
    panBy(x, y) {
      following = false
      const { x: atX, y: atY } = view.centerAt()
      view.centerAt(atX + x / view.zoom(), atY + y / view.zoom())
    },
    arrange() {
      following = true
      // d3 computes a force's strengths when they are set.
      view.d3Force('link')?.['strength'](pull)
      view.cooldownTicks(still.matches ? 150 : Infinity)
      view.d3ReheatSimulation()
    },
    dispose() {
      element.removeEventListener('wheel', leave)
      element.removeEventListener('pointerdown', leave)
      view._destructor()
    },
  }
}

function circle(context: CanvasRenderingContext2D, dot: Dot, radius: number): void {
  context.beginPath()
  context.arc(dot.x ?? 0, dot.y ?? 0, radius, 0, 2 * Math.PI)
}

function shorten(text: string, length: number): string {
  const characters = [...text]
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text
}

/** Rectangles already taken, looked up by rows of the screen. */
class Places {
  readonly #rows = new Map<number, { left: number; top: number; right: number; bottom: number; id: string }[]>()

  /** Takes a rectangle, or says no where another has part of it. */
  take(left: number, top: number, right: number, bottom: number, id: string): boolean {
    const rows: number[] = []
    for (let row = Math.floor(top / 24); row <= Math.floor(bottom / 24); row += 1) rows.push(row)
    for (const row of rows) {
      for (const place of this.#rows.get(row) ?? []) {
        if (place.id === id) return false
        if (left < place.right && right > place.left && top < place.bottom && bottom > place.top) return false
      }
    }
    for (const row of rows) {
      const there = this.#rows.get(row) ?? []
      there.push({ left, top, right, bottom, id })
      this.#rows.set(row, there)
    }
    return true
  }
}
