/*
 * Builds graph.html and everything it imports into the single file dist/graph.html.
 *
 * The output must be a function of the sources and package-lock.json only: no dates, no paths, no
 * environment. `npm run check` relies on it.
 */
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'
import { devGraph } from './build/dev_graph.ts'
import { singleFile } from './build/single_file.ts'

export default defineConfig({
  plugins: [vue(), devGraph(), singleFile()],
  define: {
    __VUE_OPTIONS_API__: 'false',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
  },
  build: {
    // What a browser of 2023 runs as it is.
    target: ['chrome111', 'firefox113', 'safari16.4'],
    modulePreload: false,
    assetsInlineLimit: () => true,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: 'graph.html',
      output: { codeSplitting: false },
    },
  },
})
