import { defineConfig } from 'vite';

// The attention views as one module for notebooks: attention.js with its styles in attention.css. No library build: that
// would leave its blanks, and the script lies in every notebook that shows a view.
// TW_NOTEBOOK_OUT: where the build goes; CMake sets it to its own folder.
export default defineConfig({
  publicDir: false,
  build: {
    outDir: process.env.TW_NOTEBOOK_OUT ?? 'dist-notebook',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: 'src/notebook/attention_widget.ts',
      preserveEntrySignatures: 'strict',
      output: { inlineDynamicImports: true, entryFileNames: 'attention.js', assetFileNames: 'attention[extname]' },
    },
  },
});
