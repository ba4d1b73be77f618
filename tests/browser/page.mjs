/*
 * A browser, and the built page with a graph in it: filled in as the database does it, opened from a file
 * or served beside an API. Used by the test and by the screenshots.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const built = readFileSync(new URL('../../web/dist/graph.html', import.meta.url), 'utf8')

/** What `memory_graph_html` does. Language first: the data may contain the other marker's text. */
export function fill(document, language) {
  const json = JSON.stringify(document).replaceAll('<', '\\u003c')
  return built.replace('__GRAPH_LANG__', () => language).replace('__GRAPH_DATA__', () => json)
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
}

/** A new window on a page, with everything noted that must not happen. */
async function watched(browser, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  const problems = []
  const requests = []
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(`${message.type()}: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requests.push(request.url())
  })
  return { context, page, problems, requests }
}

/** Opens a graph as a file. */
export async function openFile(browser, document, language, options = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'graph-'))
  const file = join(folder, 'graph.html')
  await writeFile(file, fill(document, language))
  const opened = await watched(browser, options)
  await opened.page.goto(pathToFileURL(file).href)
  return {
    ...opened,
    async close() {
      await opened.context.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Opens the page as it was built, from a server that answers `api/…` with `answer(url)`: [status, body]. */
export async function openServed(browser, answer, query = '', options = {}) {
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost')
    if (url.pathname === '/memory/') {
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.end(built)
    } else {
      const [status, body] = answer(url)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const opened = await watched(browser, options)
  await opened.page.goto(`http://127.0.0.1:${server.address().port}/memory/${query}`)
  return {
    ...opened,
    async close() {
      await opened.context.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
