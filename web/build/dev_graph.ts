/*
 * Development only: answers `api/graph` of `npm run dev` with a fixture of the browser test, so that the
 * page can be worked on without a database: `?namespace=` names the fixture. Not part of the build.
 */
import type { Plugin } from 'vite'

const fixtures = new URL('../../tests/browser/fixtures.mjs', import.meta.url)

export function devGraph(): Plugin {
  return {
    name: 'dev-graph',
    apply: 'serve',
    configureServer(server) {
      server.middlewares.use('/api/graph', async (request, response) => {
        const { graphs } = (await import(fixtures.href)) as { graphs: Record<string, () => unknown> }
        const name = new URL(request.url ?? '', 'http://localhost').searchParams.get('namespace') ?? 'diary'
        const graph = graphs[name]
        response.statusCode = graph ? 200 : 404
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(graph ? graph() : { error: 'no such fixture' }))
      })
      server.middlewares.use('/api/related', (_request, response) => {
        response.statusCode = 404
        response.end()
      })
    },
  }
}
