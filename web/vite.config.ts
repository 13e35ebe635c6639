import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// TW_PAGE_OUT: where the build goes; CMake sets it to its own folder.
export default defineConfig({
  plugins: [svelte({ compilerOptions: { css: 'external' } })],
  base: './',
  build: {
    outDir: process.env.TW_PAGE_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the content security policy allows files of our own only
    reportCompressedSize: false,
  },
  resolve: process.env.VITEST ? { conditions: ['browser'] } : {},
  test: { environment: 'happy-dom', include: ['src/**/*.test.ts'], testTimeout: 20_000 }, // a busy machine is no fault
});
