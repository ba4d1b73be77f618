/*
 * Puts script and style sheet into the HTML file, adds the content security policy and the notices of
 * the packages inside, and removes the separate files.
 *
 * What must hold for the result:
 *   - it refers to no other file;
 *   - its only executable script is the one whose hash the policy carries, so that nothing a memory
 *     contains can ever run, even if whoever fills in the data forgot to escape it;
 *   - each marker occurs exactly once.
 * The build fails where one of these does not hold.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin, Rolldown } from 'vite'

/** Replaced by whoever serves the page; see README.md. */
export const markers = ['__GRAPH_LANG__', '__GRAPH_DATA__'] as const

export function singleFile(): Plugin {
  return {
    name: 'single-file',
    apply: 'build',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const files = Object.values(bundle)
      const pages = files.filter((file) => file.fileName.endsWith('.html'))
      const chunks = files.filter((file) => file.type === 'chunk')
      const sheets = files.filter((file) => file.fileName.endsWith('.css'))
      const [page] = pages
      const [chunk] = chunks
      if (page?.type !== 'asset' || !chunk || files.length !== 2 + sheets.length || sheets.length > 1) {
        this.error(`expected one page, one script, one style sheet; got ${files.map((f) => f.fileName).join(', ')}`)
      }

      const script = escapeScript(chunk.code.trim())
      const style = sheets.map((sheet) => (sheet.type === 'asset' ? text(sheet) : '')).join('').trim()
      if (/<\/style/i.test(style)) this.error('the style sheet contains "</style"')

      const html = text(page)
        .replace(/^\s*<script type="module"[^>]*><\/script>\n?/m, '')
        .replace(/^\s*<link rel="stylesheet"[^>]*>\n?/m, '')
        .replace(/^<!--[\s\S]*?-->\n/m, () => notices(Object.keys(chunk.modules)))
        .replace('<meta charset="utf-8" />', (meta) => `${meta}\n    ${policy(script)}`)
        .replace('</head>', () => `  <style>${style}</style>\n  </head>`)
        .replace('</body>', () => `  <script type="module">${script}</script>\n  </body>`)

      for (const marker of markers) {
        const count = html.split(marker).length - 1
        if (count !== 1) this.error(`${marker} occurs ${count} times in the page, expected 1`)
      }
      if (/<(?:script|link|img|iframe)\b[^>]*\s(?:src|href)=["']?(?!data:)[^"'\s>]/i.test(html.replace(script, ''))) {
        this.error('the page refers to another file')
      }

      page.source = html
      for (const file of files) {
        if (file !== page) delete bundle[file.fileName]
      }
    },
  }
}

function text(asset: Rolldown.OutputAsset): string {
  return typeof asset.source === 'string' ? asset.source : Buffer.from(asset.source).toString('utf8')
}

/** Inside a script element only these two openings end or change how the parser reads on. */
function escapeScript(code: string): string {
  return code.replace(/<(?=\/script|!--)/gi, '\\x3C')
}

function policy(script: string): string {
  const hash = createHash('sha256').update(script, 'utf8').digest('base64')
  const rules = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ]
  return `<meta http-equiv="Content-Security-Policy" content="${rules.join('; ')}" />`
}

/** Licences whose terms a comment in the page fulfils. */
const allowed = new Set(['MIT', 'ISC', 'BSD-3-Clause'])

/** The packages inside the script, each with its copyright lines, and each licence's text once. */
function notices(modules: string[]): string {
  const folders = new Set<string>()
  for (const id of modules) {
    const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replace(/^\0/, '').replaceAll('\\', '/'))
    if (match?.[1]) folders.add(match[1])
  }
  const packages: string[] = []
  // By the text without line breaks: the same words are set differently here and there.
  const texts = new Map<string, { text: string; names: string[] }>()
  for (const folder of folders) {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
    if (!allowed.has(license)) throw new Error(`${name} is under ${license}: may the page contain it?`)
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    if (!file) {
      const by = typeof author === 'string' ? author : (author?.name ?? 'unknown')
      packages.push(`${name} ${version} (${license}) by ${by}; the package holds no licence file`)
      continue
    }
    const lines = readFileSync(join(folder, file), 'utf8').split(/\r?\n/)
    const copyright = lines.filter((line) => /^\s*Copyright (?:\(c\)|\d|OpenJS)/i.test(line)).map((line) => line.trim())
    packages.push(`${name} ${version} (${license}) ${copyright.join(' ')}`)
    const text = lines
      .filter((line) => !copyright.includes(line.trim()) && !/^\W*(?:The )?(?:MIT|ISC) License\W*(?:\(MIT\))?\W*$/i.test(line))
      .join('\n')
      .trim()
    const key = text.replace(/\s+/g, ' ')
    const known = texts.get(key)
    if (known) known.names.push(name)
    else texts.set(key, { text, names: [name] })
  }
  const licences = [...texts.values()]
    .map(({ text, names }) => `${names.sort().join(', ')}:\n\n${text}`)
    .sort()
  const comment = ['This page contains:', packages.sort().join('\n'), ...licences].join('\n\n')
  return `<!--\n${comment.replace(/-{2,}/g, '-').replace(/^\s+$/gm, '')}\n-->\n`
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly author?: string | { readonly name?: string }
}
