/*
 * Language and theme of the page: what the document or the reader's system asks for, until the reader
 * says otherwise. Kept in memory only; the page stores nothing.
 */
import { computed, inject, ref, watchEffect, type ComputedRef, type InjectionKey, type Ref } from 'vue'
import type { Theme } from './palette'
import { languageOf, words, type Language, type Words } from './words'

export interface Settings {
  readonly language: Ref<Language>
  readonly theme: ComputedRef<Theme>
  readonly words: ComputedRef<Words>
  switchLanguage(): void
  switchTheme(): void
}

export const settingsKey: InjectionKey<Settings> = Symbol('settings')

export function createSettings(root: HTMLElement): Settings {
  const language = ref(languageOf(root.dataset['lang'], navigator.language))
  const dark = window.matchMedia('(prefers-color-scheme: dark)')
  const system = ref<Theme>(dark.matches ? 'dark' : 'light')
  const chosen = ref<Theme | null>(null)
  const theme = computed(() => chosen.value ?? system.value)
  const spoken = computed(() => words[language.value])
  dark.addEventListener('change', () => {
    system.value = dark.matches ? 'dark' : 'light'
  })
  watchEffect(() => {
    root.lang = spoken.value.locale
    root.dataset['lang'] = language.value
    root.dataset['theme'] = theme.value
  })
  return {
    language,
    theme,
    words: spoken,
    switchLanguage() {
      language.value = language.value === 'zh' ? 'en' : 'zh'
    },
    switchTheme() {
      chosen.value = theme.value === 'dark' ? 'light' : 'dark'
    },
  }
}

export function useSettings(): Settings {
  return needed(inject(settingsKey), 'settings')
}

/** A component used outside of what provides for it is a mistake of ours. */
export function needed<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`no ${name} provided`)
  return value
}
