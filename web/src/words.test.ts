import { expect, test } from 'vitest'
import { languageOf, words } from './words'

test('no phrase is empty, and none is the same in both languages but the formats of numbers', () => {
  for (const [key, phrase] of Object.entries(words.en)) {
    const other: unknown = words.zh[key as keyof typeof words.zh]
    if (typeof phrase !== 'string') continue
    expect(phrase, key).not.toBe('')
    expect(other, key).not.toBe('')
    expect(other, key).not.toBe(phrase)
  }
})

test('languageOf: what was asked for, else the reader\'s', () => {
  expect(languageOf('zh', 'en-US')).toBe('zh')
  expect(languageOf('en', 'zh-CN')).toBe('en')
  expect(languageOf('__MARKER__', 'zh-TW')).toBe('zh')
  expect(languageOf(undefined, 'de')).toBe('en')
})

test('dates are days in UTC, in the language\'s form', () => {
  const noon = Date.UTC(2026, 1, 19, 12)
  expect(words.zh.day(noon)).toBe('2026年2月19日')
  expect(words.en.day(noon)).toBe('19 Feb 2026')
  expect(words.zh.group({ kind: 'quarter', start: Date.UTC(2026, 3, 1) })).toBe('2026年第2季度')
  expect(words.en.group({ kind: 'top', name: 'memory' })).toBe('memory')
})
