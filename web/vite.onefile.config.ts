// The page as one file without a server: script and styles inside, and a place for the answers that `trainwarden export
// --to page` puts in. TW_PAGE_OUT: the folder of the built page, to which this adds one_file/index.html.
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

import { uplotLazily } from './uplot_lazily';

/** What the exporter replaces; it stands once in the file. */
const PLACE = '<!--TRAINWARDEN-ANSWERS-->';

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
}

function policy(script: string, style: string): string {
  return [
    "default-src 'none'", `script-src ${hashOf(script)}`, `style-src ${hashOf(style)}`, 'img-src blob: data:',
    "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", 'trusted-types svelte-trusted-html',
  ].join('; ');
}

/** A script must not end where one of its texts says so. */
function withoutEnd(script: string): string {
  return script.replace(/<\/script/gi, '<\\/script').replace(/<!--/g, '<\\!--');
}

function documentOf(script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Trainwarden</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript; it asks nobody for anything.</noscript>
${PLACE}
<script type="module">${script}</script>
</body>
</html>
`;
}

function oneFile(): Plugin {
  return {
    name: 'one-file',
    generateBundle: {
      order: 'post', // after Vite has replaced its own words
      handler(_, bundle) {
        let [script, style] = ['', ''];
        for (const [name, file] of Object.entries(bundle)) {
          if (file.type === 'chunk') script += withoutEnd(file.code);
          else if (name.endsWith('.css')) style += String(file.source);
          delete bundle[name];
        }
        this.emitFile({ type: 'asset', fileName: 'index.html', source: documentOf(script, style) });
      },
    },
  };
}

export default defineConfig({
  plugins: [svelte({ compilerOptions: { css: 'external' } }), uplotLazily(), oneFile()],
  publicDir: false,
  build: {
    outDir: join(process.env.TW_PAGE_OUT ?? 'dist', 'one_file'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: { input: 'src/main.ts', output: { inlineDynamicImports: true } },
  },
});
