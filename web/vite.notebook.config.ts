import { defineConfig } from 'vite';

// The attention views as one module for notebooks: attention.js with its styles in attention.css.
// TW_NOTEBOOK_OUT: where the build goes; CMake sets it to its own folder.
export default defineConfig({
  publicDir: false,
  build: {
    outDir: process.env.TW_NOTEBOOK_OUT ?? 'dist-notebook',
    emptyOutDir: true,
    target: 'es2022',
    reportCompressedSize: false,
    lib: { entry: 'src/notebook/attention_widget.ts', formats: ['es'], fileName: () => 'attention.js', cssFileName: 'attention' },
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
