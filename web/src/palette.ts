/*
 * Colours of what is drawn on the canvas, for both themes. The colours of everything else are in
 * style.css; the two share ink, paper and accent.
 *
 * Data colours keep apart for readers who do not see red and green apart: time runs from blue to gold,
 * folders follow the order of a palette made for that.
 */
import type { Group, GroupBy } from './group'

export type Theme = 'light' | 'dark'

export interface Palette {
  readonly paper: string
  readonly ink: string
  readonly muted: string
  readonly accent: string
  /** Of lines: from the weakest to the strongest. */
  readonly lines: readonly string[]
  readonly lineNear: string
  readonly lineFar: string
  readonly time: readonly string[]
  readonly folders: readonly string[]
  readonly none: string
}

export const palettes: Readonly<Record<Theme, Palette>> = {
  light: {
    paper: '#f8f7f3',
    ink: '#1c1b19',
    muted: '#67645d',
    accent: '#b3391f',
    lines: ['#d9d6cd', '#c3bfb4', '#a8a397', '#87837a'],
    lineNear: '#4a4741',
    lineFar: '#ece9e2',
    time: ['#3d5a94', '#2c7d8c', '#4d9470', '#9aa24a', '#cf9d2b'],
    folders: ['#3d5a94', '#c98a1b', '#2c8c7f', '#8a5a9e', '#6b8f3a', '#b0657a', '#5d7f99', '#8b6f4e'],
    none: '#9b978d',
  },
  dark: {
    paper: '#141518',
    ink: '#ece9e2',
    muted: '#a3a098',
    accent: '#ff8a68',
    lines: ['#2b2d32', '#3b3d43', '#50535a', '#70737a'],
    lineNear: '#bdbab2',
    lineFar: '#1f2024',
    time: ['#7c9be0', '#55b3bf', '#74c69d', '#c3cc78', '#efc35b'],
    folders: ['#7c9be0', '#e5b04a', '#5cc0b0', '#bd92d6', '#a3c46c', '#dc93a8', '#8fb3cf', '#c4a27a'],
    none: '#8d8a83',
  },
}

/** The colour of each group, by its key. */
export function coloursOf(groups: readonly Group[], by: GroupBy, palette: Palette): Map<string, string> {
  const coloured = groups.filter((group) => group.name.kind !== 'undated' && group.name.kind !== 'other')
  const colours = new Map<string, string>()
  for (const group of groups) colours.set(group.key, palette.none)
  coloured.forEach((group, place) => {
    const colour =
      by === 'time'
        ? along(palette.time, coloured.length > 1 ? place / (coloured.length - 1) : 0)
        : palette.folders[place % palette.folders.length]
    colours.set(group.key, colour ?? palette.none)
  })
  return colours
}

/** The colour at a place, 0 to 1, of a row of colours. */
function along(row: readonly string[], place: number): string {
  const position = place * (row.length - 1)
  const index = Math.min(row.length - 2, Math.floor(position))
  const [from, to] = [channels(row[index]), channels(row[index + 1])]
  const mixed = from.map((value, channel) => Math.round(value + ((to[channel] ?? value) - value) * (position - index)))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function channels(colour = '#000000'): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
}
