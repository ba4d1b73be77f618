/*
 * Fails where the committed dist/graph.html is not what the sources give, or is too large to sit in a
 * database's function. Builds into a folder of its own and leaves dist/ as it is.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const limit = 600_000
const web = fileURLToPath(new URL('..', import.meta.url))
const outDir = mkdtempSync(join(tmpdir(), 'graph-page-'))
try {
  await build({ root: web, logLevel: 'warn', build: { outDir, emptyOutDir: true } })
  const fresh = readFileSync(join(outDir, 'graph.html'))
  const committed = readFileSync(join(web, 'dist', 'graph.html'))
  if (!fresh.equals(committed)) {
    console.error('dist/graph.html is not what the sources give: run "npm run build" and commit the result')
    process.exitCode = 1
  } else if (fresh.length > limit) {
    console.error(`dist/graph.html has ${fresh.length} bytes, the limit is ${limit}`)
    process.exitCode = 1
  } else {
    console.log(`dist/graph.html is up to date, ${fresh.length} bytes`)
  }
} finally {
  rmSync(outDir, { recursive: true, force: true })
}
