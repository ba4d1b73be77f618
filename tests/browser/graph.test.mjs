/*
 * The built graph page in a real browser: what a reader sees and does. Every test ends by checking that
 * nothing was logged as an error and that nothing was fetched which must not be.
 *
 * Works on web/dist/graph.html as it is: build it first. The browser is Debian's chromium, or the one
 * that CHROMIUM names.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { graphs } from './fixtures.mjs'
import { fill, launch, openFile, openServed } from './page.mjs'

let browser
before(async () => {
  browser = await launch()
})
after(() => browser?.close())

// Without motion the layout is finished with the first frame.
const still = { reducedMotion: 'reduce', colorScheme: 'light', locale: 'en-US' }

/** Opens a graph as a file, runs the test, and checks that the page did nothing it must not. */
function embedded(name, graph, language, run, options = {}) {
  test(name, { timeout: 120_000 }, async () => {
    const opened = await openFile(browser, graphs[graph](), language, { ...still, ...options })
    try {
      await opened.page.locator('canvas').waitFor()
      await run(opened.page)
      assert.deepEqual(opened.problems, [])
      assert.equal(opened.requests.length, 1, `requests: ${opened.requests.join(', ')}`)
    } finally {
      await opened.close()
    }
  })
}

const count = async (page, what) => Number(await page.getByTestId(what).getAttribute('data-count'))
const edgeCount = (page) => count(page, 'edge-count')
const nodeCount = (page) => count(page, 'node-count')
const search = (page) => page.locator('input[type=search]')
const rows = (page) => page.locator('.index .row')
const details = (page) => page.getByTestId('details')
const title = (page) => details(page).locator('h2')
const focused = (page) => page.evaluate(() => document.activeElement?.closest('[class]')?.className ?? '')

/** Sets a slider as a hand would: the browser's own events follow. */
const slide = (locator, value) => locator.fill(String(value))

/** How many pixels of a colour the canvas shows, and the middle of the first patch of it. */
function find(page, colour) {
  return page.evaluate(async (wanted) => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
    const canvas = document.querySelector('canvas')
    const { width, height } = canvas
    // Read from a copy: reading from the canvas itself would change how the browser draws it.
    const copy = new OffscreenCanvas(width, height).getContext('2d')
    copy.drawImage(canvas, 0, 0)
    const { data } = copy.getImageData(0, 0, width, height)
    const is = (x, y) => {
      const at = (y * width + x) * 4
      return wanted.every((value, channel) => Math.abs(data[at + channel] - value) <= 2) && data[at + 3] === 255
    }
    let pixels = 0
    let place = null
    for (let y = 8; y < height - 8; y += 1) {
      for (let x = 8; x < width - 8; x += 1) {
        if (!is(x, y)) continue
        pixels += 1
        // The legend and the buttons lie over the corners.
        if (!place && y > 160 && x < width - 80 && is(x - 6, y) && is(x + 6, y) && is(x, y - 6) && is(x, y + 6)) place = { x, y }
      }
    }
    const box = canvas.getBoundingClientRect()
    return { pixels, place: place && { x: box.x + place.x, y: box.y + place.y } }
  }, [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)))
}

const JANUARY = '#3d5a94'
const ACCENT = '#b3391f'

/** Every text a reader may see or hear, apart from those that come from the memories. */
function labels(page) {
  return page.evaluate(() => {
    const own = '.row, .details h2, .path, .preview, .chips, .brand-namespace, kbd, script, style, noscript'
    const found = [document.title]
    for (const element of document.querySelectorAll('*')) {
      if (element.closest(own)) continue
      for (const name of ['aria-label', 'title', 'placeholder', 'aria-valuetext']) {
        const value = element.getAttribute(name)
        if (value) found.push(value)
      }
      for (const node of element.childNodes) {
        const text = node.nodeType === Node.TEXT_NODE ? node.textContent.trim() : ''
        if (text) found.push(text)
      }
    }
    return found
  })
}

embedded('loads without errors and shows every memory', 'diary', 'en', async (page) => {
  assert.equal(await page.title(), 'default · Memory graph')
  assert.equal(await page.locator('html').getAttribute('lang'), 'en')
  assert.equal(await nodeCount(page), 24)
  assert.equal(await rows(page).count(), 24)
  assert.ok((await find(page, JANUARY)).pixels > 200, 'January is drawn')
})

embedded('search highlights in the graph and in the list', 'diary', 'zh', async (page) => {
  assert.equal((await find(page, ACCENT)).pixels, 0)
  await search(page).fill('rss')
  assert.equal(await nodeCount(page), 4)
  assert.equal(await page.getByTestId('node-count').textContent(), '找到 4 篇')
  assert.equal(await rows(page).first().locator('mark').first().textContent(), 'RSS')
  assert.ok((await find(page, ACCENT)).pixels > 40, 'results are ringed')
  await search(page).fill('没有这样的记忆')
  assert.equal(await nodeCount(page), 0)
  assert.ok(await page.getByText('没有匹配的文档').isVisible())
  await page.getByRole('button', { name: '清除搜索' }).click()
  assert.equal(await nodeCount(page), 24)
})

embedded('hover names a node, click opens it, a click beside it closes it', 'diary', 'en', async (page) => {
  const { place } = await find(page, JANUARY)
  assert.ok(place, 'a node of January can be pointed at')
  await page.mouse.move(place.x, place.y)
  const tooltip = page.getByTestId('tooltip')
  await tooltip.waitFor()
  const name = await tooltip.locator('strong').textContent()
  assert.match(await tooltip.textContent(), /Jan 2026\s*· \d+ links?/)
  await page.mouse.down()
  await page.mouse.up()
  await details(page).waitFor()
  assert.equal(await title(page).textContent(), name)
  await page.mouse.click(480, 690)
  await details(page).waitFor({ state: 'detached' })
})

embedded('details give neighbours, their shared entities, and lead on', 'diary', 'zh', async (page) => {
  await rows(page).filter({ hasText: '订阅功能优化' }).click()
  const neighbours = details(page).locator('.row')
  assert.equal(await title(page).textContent(), '订阅功能优化')
  assert.equal(await page.getByTestId('neighbour-count').textContent(), String(await neighbours.count()))
  const next = neighbours.filter({ hasText: 'SEO 优化开头' })
  assert.deepEqual(await next.locator('.shared').allTextContents(), ['SEO', 'sitemap'])
  await next.click()
  await page.waitForFunction(() => document.querySelector('.details h2')?.textContent === 'SEO 优化开头')
  await details(page).getByRole('button', { name: 'sitemap', exact: true }).click()
  assert.equal(await search(page).inputValue(), 'sitemap')
  assert.equal(await details(page).count(), 0)
  assert.equal(await nodeCount(page), 3)
})

embedded('the slider changes the links shown, and the neighbours', 'diary', 'en', async (page) => {
  const slider = page.getByRole('slider', { name: 'Link strength' })
  const standard = await edgeCount(page)
  const { edges, default_weight: weight } = graphs.diary()
  assert.equal(standard, edges.filter((edge) => edge.weight >= weight).length)
  await rows(page).filter({ hasText: '订阅功能优化' }).click()
  const neighbours = Number(await page.getByTestId('neighbour-count').textContent())
  await slide(slider, 0.5)
  assert.equal(await edgeCount(page), edges.filter((edge) => edge.weight >= 0.5).length)
  assert.ok(Number(await page.getByTestId('neighbour-count').textContent()) < neighbours)
  assert.match(await slider.getAttribute('aria-valuetext'), /^at least 0\.50, \d+ of 65 links$/)
  await slide(slider, await slider.getAttribute('min'))
  assert.equal(await edgeCount(page), edges.length)
})

embedded('the timeline narrows what is shown, and gives it back', 'diary', 'en', async (page) => {
  const edges = await edgeCount(page)
  await slide(page.getByTestId('from'), 28)
  assert.equal(await page.getByTestId('range').textContent(), '1 Feb 2026 – 27 Feb 2026')
  assert.equal(await nodeCount(page), 10)
  assert.equal(await page.getByTestId('node-count').textContent(), '10 of 24')
  assert.ok(await page.getByText('4 without a date hidden').isVisible())
  assert.ok((await edgeCount(page)) < edges)
  // January's dots are gone from the drawing too.
  assert.equal((await find(page, JANUARY)).pixels, 0)
  // A handle stops at the other one.
  await slide(page.getByTestId('to'), 3)
  assert.equal(await page.getByTestId('to').inputValue(), '28')
  assert.equal(await nodeCount(page), 0)
  await page.getByRole('button', { name: 'Whole time' }).click()
  assert.equal(await nodeCount(page), 24)
  assert.equal(await edgeCount(page), edges)
})

embedded('the language switch changes every label', 'diary', 'zh', async (page) => {
  const states = [
    async () => undefined,
    () => rows(page).first().click(),
    async () => {
      await page.keyboard.press('Escape')
      await search(page).fill('RSS')
      await slide(page.getByTestId('from'), 10)
    },
    () => search(page).fill('没有这样的记忆'),
  ]
  for (const reach of states) {
    await reach()
    const chinese = await labels(page)
    await page.getByTestId('language').click()
    assert.equal(await page.locator('html').getAttribute('lang'), 'en')
    const english = await labels(page)
    await page.getByTestId('language').click()
    // The one Chinese word of the English page is the name of the language to switch to.
    assert.deepEqual(english.filter((text) => /\p{Script=Han}/u.test(text)), ['中文'])
    const untranslated = chinese.filter((text) => !/\p{Script=Han}/u.test(text) && /\p{Letter}{2}/u.test(text))
    assert.deepEqual(untranslated, ['English'])
    assert.equal(chinese.length, english.length)
  }
})

embedded('the theme follows the system until it is switched', 'diary', 'en', async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await paper()
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-theme=dark]').waitFor()
  assert.notEqual(await paper(), light)
  await page.getByRole('button', { name: 'Light theme' }).click()
  assert.equal(await paper(), light)
  assert.ok((await find(page, JANUARY)).pixels > 200, 'the canvas follows')
})

embedded('everything can be done with the keyboard', 'diary', 'en', async (page) => {
  await page.keyboard.press('/')
  await page.keyboard.type('PostgreSQL')
  await page.keyboard.press('ArrowDown')
  assert.equal(await focused(page), 'row')
  await page.keyboard.press('ArrowDown')
  const chosen = await page.evaluate(() => document.activeElement.querySelector('.row-title').textContent.trim())
  await page.keyboard.press('Enter')
  await details(page).waitFor()
  assert.equal(await title(page).textContent(), chosen)
  assert.equal(await page.evaluate(() => document.activeElement.id), 'details-title')
  // On to a neighbour, then back to where it began.
  while ((await focused(page)) !== 'row') await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForFunction((before) => document.querySelector('.details h2')?.textContent !== before, chosen)
  await page.keyboard.press('Escape')
  await details(page).waitFor({ state: 'detached' })
  assert.equal(await page.evaluate(() => document.activeElement.querySelector('.row-title').textContent.trim()), chosen)
  await page.keyboard.press('Escape')
  assert.equal(await search(page).inputValue(), '')

  // Tab reaches every control.
  await page.locator('body').evaluate(() => document.activeElement.blur())
  const reached = new Set()
  for (let steps = 0; steps < 40; steps += 1) {
    await page.keyboard.press('Tab')
    reached.add(await page.evaluate(() => {
      const { activeElement: element } = document
      const visible = element === document.body || element.matches(':focus-visible')
      return visible ? (element.dataset.testid ?? element.id) || element.className || element.ariaLabel || element.type : 'unseen'
    }))
  }
  assert.ok(!reached.has('unseen'), 'the focus is always visible')
  for (const control of ['language', 'theme', 'canvas', 'row', 'strength', 'from', 'to']) {
    assert.ok(reached.has(control), `${control} is among ${[...reached].join(', ')}`)
  }

  // The canvas moves and zooms.
  const picture = () => page.locator('canvas').evaluate((canvas) => canvas.toDataURL())
  await page.locator('.canvas').focus()
  for (const key of ['+', 'ArrowLeft', '-', '0']) {
    const before = await picture()
    await page.keyboard.press(key)
    await page.waitForTimeout(150)
    assert.notEqual(await picture(), before, `${key} moves the picture`)
  }
})

embedded('drag moves a node, the wheel zooms', 'diary', 'en', async (page) => {
  const picture = () => page.locator('canvas').evaluate((canvas) => canvas.toDataURL())
  const { place } = await find(page, JANUARY)
  await page.mouse.move(place.x, place.y)
  await page.getByTestId('tooltip').waitFor()
  let before = await picture()
  await page.mouse.down()
  await page.mouse.move(place.x + 40, place.y + 60, { steps: 6 })
  await page.mouse.up()
  await page.waitForTimeout(200)
  assert.notEqual(await picture(), before)
  assert.equal(await details(page).count(), 0, 'a drag is no click')
  before = await picture()
  await page.mouse.wheel(0, -400)
  await page.waitForTimeout(200)
  assert.notEqual(await picture(), before)
})

embedded('colours by folder; the legend brings a group out', 'diary', 'en', async (page) => {
  await page.getByLabel('Folder', { exact: true }).check()
  const groups = page.locator('.legend-groups button')
  assert.deepEqual(await groups.locator('.legend-name').allTextContents(), ['memory', 'work', 'health', 'reading', 'people'])
  await groups.filter({ hasText: 'reading' }).click()
  assert.equal(await nodeCount(page), 3)
  assert.equal(await groups.filter({ hasText: 'reading' }).getAttribute('aria-pressed'), 'true')
  await page.keyboard.press('Escape')
  assert.equal(await nodeCount(page), 24)
})

embedded('on a telephone nothing lies over the title', 'diary', 'en', async (page) => {
  await page.setViewportSize({ width: 390, height: 844 })
  const boxes = await page.evaluate(() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect()
    const range = document.createRange()
    range.selectNodeContents(document.querySelector('.brand'))
    return { text: range.getBoundingClientRect(), tools: box('.top-tools'), search: box('.search'), width: innerWidth }
  })
  const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top
  assert.ok(apart(boxes.text, boxes.tools) && apart(boxes.text, boxes.search) && apart(boxes.search, boxes.tools))
  assert.ok([boxes.text, boxes.tools, boxes.search].every(({ right }) => right <= boxes.width))
})

embedded('one memory', 'single', 'zh', async (page) => {
  assert.equal(await nodeCount(page), 1)
  assert.ok(await page.getByText('目前只有一篇文档').isVisible())
  assert.ok(await page.locator('#strength').isDisabled())
  const { x, y, width, height } = await page.locator('canvas').boundingBox()
  await page.waitForTimeout(300)
  await page.mouse.move(x + width / 2, y + height / 2 - 8)
  await page.getByTestId('tooltip').waitFor()
  await page.mouse.down()
  await page.mouse.up()
  await details(page).waitFor()
  assert.equal(await title(page).textContent(), '搬家第一周')
})

embedded('no memory', 'empty', 'en', async (page) => {
  assert.ok(await page.getByRole('heading', { name: 'Nothing remembered yet' }).isVisible())
  assert.equal(await nodeCount(page), 0)
})

embedded('two thousand memories', 'large', 'en', async (page) => {
  assert.equal(await nodeCount(page), 2_000)
  assert.equal(await rows(page).count(), 100)
  assert.ok(await page.getByText('The graph holds 2,000 of 2,512 files.').isVisible())
  await search(page).fill('记录 1234')
  assert.equal(await nodeCount(page), 1)
  await slide(page.locator('#strength'), 0.8)
  assert.ok((await edgeCount(page)) < 1_000)
  await search(page).fill('')
  await page.getByRole('button', { name: 'Show 100 more' }).click()
  assert.equal(await rows(page).count(), 200)
}, { reducedMotion: 'no-preference' })

embedded('memories are never HTML', 'hostile', 'en', async (page) => {
  await rows(page).first().click()
  await details(page).waitFor()
  assert.match(await title(page).textContent(), /^<\/script><script>/)
  assert.deepEqual(await details(page).locator('.shared').nth(1).textContent(), '__GRAPH_LANG__ $& __GRAPH_DATA__')
  const { place } = await find(page, JANUARY)
  await page.mouse.move(place.x, place.y)
  await page.getByTestId('tooltip').waitFor()
  assert.equal(await page.evaluate(() => window.attacked), undefined)
  assert.equal(await page.locator('img').count(), 0)
})

test('a script that gets into the page all the same does not run', async () => {
  const opened = await openFile(browser, graphs.single(), 'en', still)
  try {
    await opened.page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.attacked = true'
      document.body.append(script)
    })
    assert.equal(await opened.page.evaluate(() => window.attacked), undefined)
    assert.ok(opened.problems.some((problem) => problem.includes('Content Security Policy')))
  } finally {
    await opened.close()
  }
})

test('each marker occurs once, and filling them leaves none', () => {
  const page = fill(graphs.empty(), 'zh')
  assert.ok(page.includes('data-lang="zh"'))
  assert.ok(!page.includes('__GRAPH_'))
})

test('served beside an API it asks for the graph and for neighbours', async () => {
  const asked = []
  const answer = (url) => {
    asked.push(url.pathname + url.search)
    if (url.pathname.endsWith('/api/graph')) return [200, graphs.diary()]
    return [200, { related: [{ path: 'memory/elsewhere.md', weight: 0.99, similarity: 0.9, shared: ['RSS'] }] }]
  }
  const opened = await openServed(browser, answer, '?namespace=work', still)
  try {
    await rows(opened.page).first().click()
    await details(opened.page).getByText('memory/elsewhere.md').waitFor()
    assert.ok(await details(opened.page).locator('.row').isDisabled(), 'a memory outside of the graph cannot be opened')
    assert.equal(asked[0], '/memory/api/graph?namespace=work')
    assert.match(asked[1], /^\/memory\/api\/related\?namespace=work&path=memory%2F/)
    assert.deepEqual(opened.problems, [])
  } finally {
    await opened.close()
  }
})

test('a server that fails is named, and can be tried again', async () => {
  let broken = true
  const answer = (url) => (url.pathname.endsWith('/api/graph') && !broken ? [200, graphs.diary()] : [503, {}])
  const opened = await openServed(browser, answer, '', { ...still, locale: 'zh-CN' })
  try {
    const retry = opened.page.getByRole('button', { name: '重试' })
    await retry.waitFor()
    assert.ok(await opened.page.getByText('服务器返回状态 503。').isVisible())
    broken = false
    await retry.click()
    await rows(opened.page).first().waitFor()
    assert.equal(await nodeCount(opened.page), 24)
  } finally {
    await opened.close()
  }
})
