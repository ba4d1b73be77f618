import { afterEach, expect, test, vi } from 'vitest'
import { chooseSource, EmbeddedSource, HttpError, HttpSource } from './data'

const page = new URL('https://memory.example/app/graph.html?namespace=%E5%B7%A5%E4%BD%9C#x')
const document = { nodes: [{ path: 'a' }, { path: 'b' }], edges: [{ source: 'a', target: 'b', weight: 0.5 }] }

function answer(...answers: [status: number, body: unknown][]) {
  const fetch = vi.fn<(address: URL) => Promise<Response>>()
  for (const [status, body] of answers) fetch.mockResolvedValueOnce(new Response(JSON.stringify(body), { status }))
  vi.stubGlobal('fetch', fetch)
  return fetch
}

afterEach(() => vi.unstubAllGlobals())

test('a page whose marker was replaced uses its own data and never the network', async () => {
  const fetch = answer()
  const source = chooseSource(`\n${JSON.stringify(document)}\n`, page)
  expect(source).toBeInstanceOf(EmbeddedSource)
  const graph = await source.graph()
  expect((await source.related(graph, { id: 'a', path: 'a' })).map(({ path }) => path)).toEqual(['b'])
  expect(fetch).not.toHaveBeenCalled()
})

test('a page as it was built asks the server it came from, for the namespace in its address', async () => {
  const fetch = answer([200, document], [200, { related: [{ path: 'c', weight: 0.9 }] }])
  const source = chooseSource('__ANY_MARKER__', page)
  const graph = await source.graph()
  expect(graph.nodes).toHaveLength(2)
  expect((await source.related(graph, { id: 'a b', path: 'a b' })).map(({ path }) => path)).toEqual(['c'])
  expect(fetch.mock.calls.map(([address]) => address.href)).toEqual([
    'https://memory.example/app/api/graph?namespace=%E5%B7%A5%E4%BD%9C',
    'https://memory.example/app/api/related?namespace=%E5%B7%A5%E4%BD%9C&path=a+b',
  ])
})

test('a server without api/related is asked once; one that fails is asked again', async () => {
  const source = new HttpSource(page)
  const fetch = answer([200, document], [500, {}], [404, {}])
  const graph = await source.graph()
  for (let times = 0; times < 3; times += 1) {
    expect((await source.related(graph, { id: 'a', path: 'a' })).map(({ path }) => path)).toEqual(['b'])
  }
  expect(fetch).toHaveBeenCalledTimes(3)
})

test('a graph that cannot be had is an error', async () => {
  answer([503, {}])
  await expect(new HttpSource(page).graph()).rejects.toBeInstanceOf(HttpError)
  await expect(new EmbeddedSource('{"nodes": [').graph()).rejects.toBeInstanceOf(SyntaxError)
})
