/*
 * The pictures of the documentation: docs/images/graph-zh.png and graph-en.png. Look at them before they
 * are committed. They need a Chinese font (Debian: fonts-noto-cjk).
 */
import { fileURLToPath } from 'node:url'
import { graphs } from './fixtures.mjs'
import { launch, openFile } from './page.mjs'

const folder = fileURLToPath(new URL(process.argv[2] ?? '../../docs/images/', import.meta.url))
const shots = [
  { name: 'graph-zh', language: 'zh', scheme: 'light', open: '订阅功能优化' },
  { name: 'graph-en', language: 'en', scheme: 'dark', search: 'RSS' },
]

const browser = await launch()
for (const { name, language, scheme, open, search } of shots) {
  const { page, close } = await openFile(browser, graphs.diary(), language, {
    colorScheme: scheme,
    reducedMotion: 'reduce',
  })
  await page.waitForTimeout(800)
  if (open) await page.locator('.index .row', { hasText: open }).first().click()
  if (search) await page.locator('input[type=search]').fill(search)
  await page.mouse.move(640, 30)
  await page.waitForTimeout(600)
  await page.screenshot({ path: `${folder}${name}.png` })
  await close()
}
await browser.close()
