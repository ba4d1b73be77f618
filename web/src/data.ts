/*
 * Where the graph comes from: the document inside the page, or the HTTP API of the program that serves
 * the page. The only module that reads the document's marker or uses the network.
 *
 * The page is "embedded" once the marker's text has been replaced; untouched, the page asks the server
 * it came from, with addresses relative to its own.
 */
import { neighboursOf, readGraph, readRelated, type Graph, type GraphNode, type Neighbour } from './graph'

export interface Source {
  graph(): Promise<Graph>
  /** Neighbours of a document, the strongest first. Never fails: falls back to the graph's edges. */
  related(graph: Graph, node: Pick<GraphNode, 'id' | 'path'>): Promise<Neighbour[]>
}

/** Builds the source of this page. `data` is the text of the marker element. */
export function chooseSource(data: string, page: URL): Source {
  const text = data.trim()
  // The marker itself is spelt out nowhere but in graph.html, where it must occur once.
  return text.startsWith('{') ? new EmbeddedSource(text) : new HttpSource(page)
}

export class EmbeddedSource implements Source {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  async graph(): Promise<Graph> {
    return readGraph(JSON.parse(this.#text))
  }

  async related(graph: Graph, node: Pick<GraphNode, 'id' | 'path'>): Promise<Neighbour[]> {
    return neighboursOf(graph.edges, node.id)
  }
}

export class HttpSource implements Source {
  readonly #page: URL
  #related = true

  constructor(page: URL) {
    this.#page = page
  }

  async graph(): Promise<Graph> {
    return readGraph(await this.#get('api/graph'))
  }

  async related(graph: Graph, node: Pick<GraphNode, 'id' | 'path'>): Promise<Neighbour[]> {
    // Where ids are not paths the server would not know whose path it is.
    if (this.#related && node.id === node.path) {
      try {
        return readRelated(await this.#get('api/related', { path: node.path }))
      } catch (error) {
        // A server without this call stays without it; anything else may work the next time.
        if (error instanceof HttpError && error.status === 404) this.#related = false
      }
    }
    return neighboursOf(graph.edges, node.id)
  }

  async #get(name: string, query: Record<string, string> = {}): Promise<unknown> {
    const address = new URL(name, this.#page)
    address.search = ''
    const namespace = this.#page.searchParams.get('namespace')
    if (namespace !== null) address.searchParams.set('namespace', namespace)
    for (const [key, value] of Object.entries(query)) address.searchParams.set(key, value)
    const response = await fetch(address, { headers: { accept: 'application/json' } })
    if (!response.ok) throw new HttpError(response.status)
    return response.json()
  }
}

export class HttpError extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the server answered ${status}`)
    this.status = status
  }
}
