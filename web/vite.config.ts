import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

import { uplotLazily } from './uplot_lazily';

/** Parts below this size go with others: asking for a file takes the browser longer than reading it. */
const SMALL_BYTES = 5_000;

// TW_PAGE_OUT: where the build goes; CMake sets it to its own folder.
export default defineConfig({
  plugins: [svelte({ compilerOptions: { css: 'external' } }), uplotLazily()],
  base: './',
  build: {
    outDir: process.env.TW_PAGE_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the content security policy allows files of our own only
    reportCompressedSize: false,
    rollupOptions: { output: { experimentalMinChunkSize: SMALL_BYTES } },
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'], testTimeout: 20_000 }, // a busy machine is no fault
});
