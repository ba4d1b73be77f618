/*
 * Starts the page.
 */
import { createApp } from 'vue'
import App from './components/App.vue'
import { chooseSource } from './data'
import { createSettings, settingsKey } from './settings'
import './style.css'

const marker = document.getElementById('graph-data')
const source = chooseSource(marker?.textContent ?? '', new URL(document.baseURI))

createApp(App, { source })
  .provide(settingsKey, createSettings(document.documentElement))
  .mount('#app')
